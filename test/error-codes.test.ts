import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { internalRule, rules } from '../src/http/refusals.ts'

/** The rows of one section's table: code and status. */
function tableOf(heading: string): Record<string, number> {
  const [, section = ''] = readFileSync('docs/errors.md', 'utf8').split(`## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  const rows = [...text.matchAll(/^\| `([a-z_]+)` \| (\d{3})\b/gm)]
  return Object.fromEntries(rows.map(([, code = '', status]) => [code, Number(status)]))
}

/** What the HTTP parser itself refuses (src/http/client-error.ts). */
const beforeAnyRoute = { headers_too_large: 431, invalid_http: 400, request_timeout: 408 }

test('docs/errors.md has a row for every refusal, with its status', () => {
  const known = Object.entries({ ...rules, internal_error: internalRule })
  const statuses = known.map(([code, { status }]) => [code, status])
  expect(tableOf('Refusals')).toEqual({ ...Object.fromEntries(statuses), ...beforeAnyRoute })
})
