import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { eventNames } from '../src/operations/reporter.ts'
import { refundFaults } from '../src/orders/refund.ts'
import { limitNames } from '../src/orders/spending-limits/rules.ts'
import { errorTables } from '../src/web/info/error-tables.ts'
import { outcomeSections } from '../src/web/texts/en/outcomes.ts'

test.each(errorTables())('docs/errors.md has the table of the store: $heading', (one) => {
  const [, section = ''] = readFileSync('docs/errors.md', 'utf8').split(`## ${one.heading}\n`)
  const [text = ''] = section.split('\n## ')
  expect(text.trim()).toBe(`${one.lead}\n\n${one.table}`)
})

test('there is a row for every reason why a payment is not taken or an offer not sold', () => {
  const codes = outcomeSections.flatMap(({ outcomes }) => outcomes.map(({ code }) => code))
  const told = globSync('src/{payments,adapters/chain,goods}/**/*.ts')
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/(?:\bbad\(\s*|\bcode: )'([a-z_]+)'/g),
    ])
    .map(([, code]) => code)
  expect(told.length).toBeGreaterThan(15)
  expect(told.filter((code) => !codes.includes(code ?? ''))).toEqual([])
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

test('docs/treasury.md names events and metrics that there are', () => {
  const [, rings = ''] = readFileSync('docs/treasury.md', 'utf8').split('## What rings\n')
  const [table = ''] = rings.split('\n## ')
  const named = [...table.matchAll(/`([a-z0-9_]+)(?:\{[^`]*)?`/g)].map(([, name = '']) => name)
  const operations = readFileSync('docs/operations.md', 'utf8')
  const metrics = [...operations.matchAll(/^\| `(kiosk402_[a-z0-9_]+)` \|/gm)].map(
    ([, name]) => name,
  )
  expect(named.length).toBeGreaterThan(8)
  for (const name of named) expect([...metrics, ...eventNames]).toContain(name)
})
