import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { cost, voucher } from '../../test/fixtures/offers.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createSnapshotStore } from '../adapters/storage/snapshots.ts'
import type { Operator } from '../operator/operator.ts'
import type { placeRules } from '../operator/selling.ts'
import type { Act, Context } from './act.ts'
import { catalog, price, sales } from './selling.ts'

const postgres = migratedPostgres()
let database: Pool

beforeEach(async () => {
  database = await postgres.open()
  const offers = Array.from({ length: 60 }, (_, at) => voucher(`AMZ_${at}`, { cost: cost(2_400) }))
  await createSnapshotStore(database).save({ offers, rejected: {}, readAt: new Date() })
  return () => database.end()
})

const why = ['--reason', 'a test']

function run(act: Act, args: readonly string[]) {
  const config = { markupBps: 0, ratesUrl: 'http://127.0.0.1:9' } as Operator['config']
  const operator: Operator = { config, database, by: 'anna', now: () => new Date() }
  const context = { isDryRun: false, withOperator: (work) => work(operator) } as Context
  return act.run(args, context)
}

const said = async (act: Act, ...args: readonly string[]) => (await run(act, args)).lines

test('sales are paused until a time, listed with who and why, and resumed', async () => {
  expect(await said(sales)).toEqual(['No rule is in force.'])
  const soon = ['--until', new Date(Date.now() + 3_600_000).toISOString()]
  const lines = await said(sales, 'pause', 'brand:AMAZON', 'method:BTC', ...soon, ...why)
  expect(lines.slice(0, 4)).toEqual([
    'In force on all nodes within 5 s:',
    expect.stringMatching(/^1 {2}brand:AMAZON {2}pause {2}by anna at .*, until .* a test$/),
    expect.stringMatching(/^2 {2}method:BTC {2}pause/),
    'Offers that change: 60',
  ])
  expect(await said(sales)).toHaveLength(2)
  await run(sales, ['resume', 'brand:AMAZON', '2', ...why])
  expect(await said(sales)).toEqual(['No rule is in force.'])
})

test('a margin lists the first fifty offers for people, and all of them as data', async () => {
  const { lines, data } = await run(price, [
    ...['set', 'everything', '--margin-bps', '250', '--fixed-usd', '0.30', ...why],
  ])
  expect(lines).toContain('  AMZ_0  25.00 -> 25.93  Amazon.com')
  expect(lines.at(-1)).toBe('  and 10 more: --json lists all')
  expect(data).toMatchObject({ placed: [{ effect: { bps: 250, cents: 30 } }] })
  expect((data as Awaited<ReturnType<typeof placeRules>>).changes.offers).toHaveLength(60)
})

test('the file of an export is one that can be imported', async () => {
  await run(catalog, ['name', 'brand:AMAZON', 'Amazon, "the" shop', ...why])
  const file = join(tmpdir(), `rules-${crypto.randomUUID()}.csv`)
  await writeFile(file, (await said(price, 'export')).join('\n'))
  expect((await run(price, ['import', file, ...why])).data).toMatchObject({ placed: [], kept: 1 })
})

test.each([
  [sales, 'stop everything', '"stop" is not known'],
  [sales, 'pause everything', 'pause needs a reason'],
  [sales, 'pause --reason x', 'pause needs a name'],
  [sales, 'pause everything --reason x --margin-bps 2', '--margin-bps is not for pause'],
  [price, 'set everything --reason x', 'A margin is a whole number of basis points'],
  [price, 'set everything --reason x --margin-bps 2 --fixed-usd 1.234', 'dollars and cents'],
  [catalog, 'name brand:AMAZON --reason x', 'name needs a scope and a text'],
])('%o does not take %s', async (act, args, problem) => {
  await expect(async () => run(act, args.split(' '))).rejects.toThrow(problem)
})
