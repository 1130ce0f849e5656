import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { internalRule, rules } from '../src/http/refusals.ts'
import { happeningNames } from '../src/operations/reporter.ts'
import { limitNames } from '../src/orders/limits/rules.ts'
import { refundFaults } from '../src/orders/refund.ts'

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

/** The first column of one section's table, where it is a code. */
function codesOf(file: string, heading: string): string[] {
  const [, section = ''] = readFileSync(file, 'utf8').split(`## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = '']) => code)
}

test.each([
  ['docs/treasury.md', 'When a refund fails'],
  ['docs/errors.md', 'Refunds that failed'],
])('%s has a row for every reason why a refund fails, and for nothing else', (file, heading) => {
  expect(codesOf(file, heading)).toEqual([...refundFaults])
})

test('docs/errors.md has a row for every limit that a wallet can set, in their order', () => {
  expect(codesOf('docs/errors.md', 'Limits of the wallet')).toEqual([...limitNames])
})

test('docs/treasury.md names happenings and metrics that there are', () => {
  const [, rings = ''] = readFileSync('docs/treasury.md', 'utf8').split('## What rings\n')
  const [table = ''] = rings.split('\n## ')
  const named = [...table.matchAll(/`([a-z0-9_]+)(?:\{[^`]*)?`/g)].map(([, name = '']) => name)
  const readme = readFileSync('README.md', 'utf8')
  const metrics = [...readme.matchAll(/^\| `(kiosk402_[a-z0-9_]+)` \|/gm)].map(([, name]) => name)
  expect(named.length).toBeGreaterThan(8)
  for (const name of named) expect([...metrics, ...happeningNames]).toContain(name)
})
