import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { metrics } from '../src/operations/metric-list.ts'
import { eventNames } from '../src/operations/reporter.ts'
import { payoutFaults } from '../src/orders/payout.ts'
import { limitNames } from '../src/orders/spending-limits/rules.ts'
import { outcomeSections } from '../src/web/info/error-codes.ts'

test('every reason why a payment is not taken or an offer not sold has its texts', () => {
  const codes = outcomeSections.flatMap(({ outcomes }) => outcomes.map(({ code }) => code))
  const told = globSync('src/{payments,adapters/chain,catalog}/**/*.ts')
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(
        /\bbad\(\s*'([a-z_]+)'|\bcode: '([a-z_]+)', reason\b/g,
      ),
    ])
    .map(([, rejected, code]) => rejected ?? code)
  expect(told.length).toBeGreaterThan(15)
  expect(told.filter((code) => !codes.includes(code ?? ''))).toEqual([])
})

test('every reason why a refund fails has its texts, and nothing else has', () => {
  const failed = outcomeSections.find(({ id }) => id === 'refunds')
  expect(failed?.outcomes.map(({ code }) => code)).toEqual([...payoutFaults])
})

/** The first column of one section's table, where it is a code. */
function codesOf(file: string, heading: string): string[] {
  const [, section = ''] = readFileSync(file, 'utf8').split(`## ${heading}\n`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = '']) => code)
}

test('docs/agents/errors.md has a row for every limit that a wallet can set, in their order', () => {
  expect(codesOf('docs/agents/errors.md', 'Limits of the wallet')).toEqual([...limitNames])
})

test('docs/operators/treasury.md names events and metrics that there are', () => {
  const [, alerts = ''] = readFileSync('docs/operators/treasury.md', 'utf8').split('## Alerts\n')
  const [table = ''] = alerts.split('\n## ')
  const named = [...table.matchAll(/`([a-z0-9_]+)(?:\{[^`]*)?`/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(8)
  for (const name of named) expect([...Object.keys(metrics), ...eventNames]).toContain(name)
})
