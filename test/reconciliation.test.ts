import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { differences } from '../src/reconcile/differences.ts'

test('docs/reconciliation.md tells of every difference what the command tells', () => {
  const page = readFileSync('docs/reconciliation.md', 'utf8')
  const rows = page.split('\n').filter((line) => /^\| `[a-z_]+` \|/.test(line))
  const expected = Object.entries(differences).map(
    ([code, { what, act }]) => `| \`${code}\` | ${what} | ${act} |`,
  )
  expect(rows).toEqual(expected)
})
