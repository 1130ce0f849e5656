import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { cost, fixed, fixtureNow, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { readActs } from '../adapters/storage/audit.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { listRules } from '../adapters/storage/selling-rules.ts'
import { createSnapshotStore } from '../adapters/storage/snapshots.ts'
import type { Operator } from './operator.ts'
import { endSellingRules, placeRules } from './selling.ts'
import { readRuleFile, ruleFileOf, type WantedRule } from './written-rules.ts'

const postgres = migratedPostgres()
let database: Pool
let anna: Operator

const offers = [
  voucher('AMZ_US_25', { cost: cost(2_400) }),
  voucher('AMZ_US_OPEN', { price: open(500, 10_000), cost: cost(490, 9_800) }),
  voucher('AMZ_DE_10', { country: 'DE', price: fixed(1_000), cost: cost(990) }),
  topup('CLARO_GT_5'),
]

const operatorOf = (by: string): Operator => ({
  config: { markupBps: 250, ratesUrl: 'http://127.0.0.1:9' } as Operator['config'],
  database,
  by,
  now: () => fixtureNow,
})

beforeEach(async () => {
  database = await postgres.open()
  await createSnapshotStore(database).save({ offers, rejected: {}, readAt: fixtureNow })
  anna = operatorOf('anna')
  return () => database.end()
})

const placing = { act: 'price set', reason: 'dearer since May' }
const place = (scope: string, effect: WantedRule, operator = anna) =>
  placeRules(operator, [{ scope, ...effect }], placing)
const margin = (bps: number, usd = '') =>
  ({ effect: 'margin', margin_bps: String(bps), fixed_usd: usd }) as const
const pause = { effect: 'pause' } as const

test('a rule says whose prices change from what to what, who made it and why', async () => {
  const { placed, changes } = await place('brand:amazon', margin(500))
  const told = {
    scope: { type: 'brand', key: 'AMAZON' },
    effect: { type: 'margin', bps: 500, cents: 0 },
  }
  expect(placed).toMatchObject([{ ...told, by: 'anna', reason: 'dearer since May' }])
  expect(changes.ratesAsOf).toBeNull()
  expect(changes.offers.map((one) => [one.offerId, one.usdcBefore, one.usdcAfter])).toEqual([
    ['AMZ_US_25', '25.63', '26.25'],
    ['AMZ_US_OPEN', '5.13 to 102.50', '5.25 to 105.00'],
    ['AMZ_DE_10', '10.25', '10.50'],
  ])
  expect(await listRules(database)).toEqual(placed)
  const [noted] = await readActs(database, { limit: 9 })
  expect(noted).toMatchObject({ by: 'anna', act: 'price set', subject: 'brand:AMAZON' })
})

test('a margin below the cost is held up', async () => {
  const { changes } = await place('everything', margin(-500))
  expect(changes.offers.map((one) => [one.offerId, one.usdcAfter])).toEqual([
    ['AMZ_US_25', '24.00'],
    ['AMZ_US_OPEN', '4.90 to 98.00'],
    ['AMZ_DE_10', '9.90'],
    ['CLARO_GT_5', '4.75'],
  ])
})

test.each([
  [
    'a brand that does not exist',
    'brand:AMZON',
    margin(1),
    'There is no brand AMZON. The nearest is AMAZON.',
  ],
  ['a country without a code', 'country:UK', pause, 'There is no country UK'],
  ['a margin of -100 %', 'everything', margin(-10_000), 'A margin of -100 % gives the goods away'],
  ['a margin that nobody means', 'everything', margin(100_000), 'basis points below 100000'],
  [
    'a least margin below nothing',
    'everything',
    { ...margin(-1), effect: 'least_margin' },
    'cannot be negative',
  ],
  ['a price for a way to pay', 'method:BTC', margin(1), 'can only be paused'],
  ['a picture from nowhere', 'everything', { effect: 'picture', text: 'http://a/b' }, 'https://'],
  ['a country on the home page', 'country:DE', { effect: 'feature' }, 'Only an offer or a brand'],
  ['an end without a zone', 'everything', { ...pause, until: '2027-12-24' }, 'with its zone'],
  ['an end that has passed', 'everything', { ...pause, until: '2020-01-01T00:00Z' }, 'to come'],
] as const)('%s is refused', async (_, scope, effect, why) => {
  await expect(place(scope, effect)).rejects.toThrow(why)
  expect(await listRules(database)).toEqual([])
})

test('a rule with an end is in force until then', async () => {
  const until = new Date(Date.now() + 3_600_000)
  const { placed, changes } = await place('brand:AMAZON/DE', {
    ...pause,
    until: until.toISOString(),
  })
  expect(placed).toMatchObject([{ scope: { type: 'brand_country', key: 'AMAZON/DE' }, until }])
  expect(changes.offers).toMatchObject([{ before: 'sold', after: 'paused' }])
  await database.query('alter table selling_rules disable trigger user')
  await database.query(`update selling_rules set placed_at = '2020-01-01', until = '2020-01-02'`)
  await database.query('alter table selling_rules enable trigger user')
  expect(await listRules(database)).toEqual([])
})

test('a rule that contradicts another says which of the two counts', async () => {
  await place('brand:AMAZON', margin(100))
  await place('country:DE', pause)
  const counting = async (scope: string) => {
    const { meets } = await place(scope, margin(300))
    return meets.map(({ scope, effect, counts }) => [scope, effect, counts])
  }
  const [other, fresh] = ['the other rule', 'the new rule']
  expect(await counting('kind:voucher')).toEqual([
    ['brand:AMAZON', 'margin', other],
    ['country:DE', 'pause', other],
  ])
  expect(await counting('brand:AMAZON')).toEqual([
    ['brand:AMAZON', 'margin', fresh],
    ['country:DE', 'pause', other],
    ['kind:voucher', 'margin', fresh],
  ])
  expect(await counting('kind:topup')).toEqual([])
})

test('of two operators at once, one meets the rule of the other', async () => {
  const both = await Promise.all([
    place('brand:AMAZON', margin(100)),
    place('brand:AMAZON', margin(200), operatorOf('bert')),
  ])
  expect(both.flatMap(({ meets }) => meets)).toHaveLength(1)
  const inForce = await listRules(database)
  expect(inForce.map(({ id }) => id)).toEqual(both.map(({ placed }) => placed[0]?.id).sort())
})

test('a rule ends once, and the audit keeps it', async () => {
  await place('brand:AMAZON', pause)
  const ending = { effects: ['pause'], act: 'sales resume', reason: 'codes are back' } as const
  const end = (operator: Operator) => endSellingRules(operator, ['brand:amazon', '1'], ending)
  const { ended, changes } = await end(operatorOf('bert'))
  expect(ended).toMatchObject([{ id: 1, effect: { type: 'pause' }, by: 'anna' }])
  expect(changes.offers.map(({ before, after }) => [before, after])).toEqual(
    Array(3).fill(['paused', 'sold']),
  )
  await expect(end(anna)).rejects.toThrow('No such rule is in force for brand:amazon')
  await expect(database.query(`update selling_rules set reason = 'x'`)).rejects.toThrow('keeps')
  const [act, ...earlier] = await readActs(database, { limit: 9 })
  expect(act).toMatchObject({ by: 'bert', act: 'sales resume', before: [{ id: 1, by: 'anna' }] })
  expect(earlier).toMatchObject([{ by: 'anna', act: 'price set' }])
})

test('the rules go out as a file and come in again, and what is in force is kept', async () => {
  await place('everything', margin(-200, '0.30'))
  await place('brand:AMAZON', { effect: 'name', text: '=cmd|"/c calc"!A1' })
  const rules = await listRules(database)
  const file = ruleFileOf(rules)
  expect(file).toContain('everything,margin,-200,0.30,,')
  expect(file).toContain(`"'=cmd|""/c calc""!A1"`)
  const again = await placeRules(anna, readRuleFile(file), placing)
  expect(again).toMatchObject({ placed: [], kept: 2 })
  expect(await listRules(database)).toEqual(rules)
})

const heading = 'scope,effect,margin_bps,fixed_usd,text,until,reason'

test('a file with broken rows changes nothing, and every one of them is named', async () => {
  const file = [
    heading,
    'brand:AMAZON,margin,200,0.30,,,',
    'brand:AMZON,margin,200,,,,',
    'brand:AMAZON,margin,two,,,,',
    'everything,margin,-10000,0,,,',
    'everything,discount,1,,,,',
    '"everything,margin,1,,,,',
  ].join('\n')
  const refused = await placeRules(anna, readRuleFile(file), placing).catch(
    ({ message }: Error) => message,
  )
  const lines = String(refused).split('\n')
  expect(lines.map((line) => line.slice(0, 7))).toEqual(
    [3, 4, 5, 6, 7].map((line) => `Line ${line}:`),
  )
  expect(await listRules(database)).toEqual([])
})

test.each([
  ['', 'it must name the columns'],
  ['scope,effect\n', 'it must name the columns'],
  ['\u0000', 'it must name the columns'],
  [`${heading}\neverything,pause\nbrand:A,pause,,,,,`, 'Line 2: it has 2 cells, not 7.'],
])('the file %j is no rules', (file, why) => {
  expect(() => readRuleFile(file)).toThrow(why)
})
