import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { cost, fixed, fixtureNow, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { readActs } from '../adapters/storage/audit.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { addRules, listRules, stateOfRules } from '../adapters/storage/selling-rules.ts'
import { createSnapshotStore } from '../adapters/storage/snapshots.ts'
import type { Effect } from '../catalog/selling-rules.ts'
import type { Operator } from './operator.ts'
import { readRuleFile, ruleFileOf } from './rules-file.ts'
import { endSellingRules, placeRules, rulesOf } from './selling.ts'

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
  config: { mode: 'sandbox', markupBps: 250 } as Operator['config'],
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

const place = (scope: string, effect: Effect, operator = anna) =>
  placeRules(operator, [{ scope, effect }], { act: 'price set', reason: 'dearer since May' })
const margin = (bps: number, cents = 0) => ({ type: 'margin', bps, cents }) as const
const pause = { type: 'pause' } as const

test('a rule says whose prices change from what to what, who made it and why', async () => {
  const { placed, changes } = await place('brand:amazon', margin(500))
  const told = { scope: 'brand:AMAZON', effect: 'margin', marginBps: 500, fixedUsd: '0.00' }
  expect(placed).toMatchObject([{ ...told, by: 'anna', reason: 'dearer since May' }])
  expect(changes).toMatchObject({ offers: 3, dearer: 3, cheaper: 0, held: 0, ratesAsOf: null })
  expect(changes.list.map((one) => [one.offerId, one.usdcBefore, one.usdcAfter])).toEqual([
    ['AMZ_US_25', '25.63', '26.25'],
    ['AMZ_US_OPEN', '5.13 to 102.50', '5.25 to 105.00'],
    ['AMZ_DE_10', '10.25', '10.50'],
  ])
  expect(await rulesOf(anna, 'in force')).toEqual(placed)
  const [noted] = await readActs(database, { limit: 9 })
  expect(noted).toMatchObject({ by: 'anna', act: 'price set', subject: 'brand:AMAZON' })
})

test('a margin below the cost is held up, and says for which offers', async () => {
  const { changes } = await place('everything', margin(-500))
  expect(changes).toMatchObject({ cheaper: 4, held: 3 })
  expect(changes.list.map((one) => [one.offerId, one.usdcAfter, one.isHeld])).toEqual([
    ['AMZ_US_25', '24.00', true],
    ['AMZ_US_OPEN', '4.90 to 98.00', true],
    ['AMZ_DE_10', '9.90', true],
    ['CLARO_GT_5', '4.75', false],
  ])
})

test.each([
  [
    'a brand that does not exist',
    'brand:AMZON',
    margin(1),
    'There is no brand AMZON. The nearest is AMAZON.',
  ],
  ['a country without a code', 'country:UK', pause, 'UK is no ISO 3166-1 alpha-2 code'],
  ['a margin of -100 %', 'everything', margin(-10_000), 'A margin of -100 % gives the goods away'],
  ['a margin that nobody means', 'everything', margin(2_000_000), 'A margin is at most 1000 %'],
  [
    'a least margin below nothing',
    'everything',
    { type: 'least_margin', bps: -1, cents: 0 },
    'cannot be negative',
  ],
  ['a price for a way to pay', 'method:BTC', margin(1), 'can only be paused'],
  ['a picture from nowhere', 'everything', { type: 'picture', text: 'http://a/b' }, 'https://'],
] as const)('%s is refused', async (_, scope, effect, why) => {
  await expect(place(scope, effect)).rejects.toThrow(why)
  expect(await rulesOf(anna, 'all')).toEqual([])
})

test('an end that has passed is refused, and one to come is in force until then', async () => {
  const wanted = { scope: 'brand:AMAZON/DE', effect: pause }
  const placing = { act: 'sales pause', reason: 'no codes' }
  const past = { ...wanted, until: new Date(fixtureNow.getTime() - 1) }
  await expect(placeRules(anna, [past], placing)).rejects.toThrow('which has passed')
  const soon = { ...wanted, until: new Date(Date.now() + 3_600_000) }
  const { placed, changes } = await placeRules(anna, [soon], placing)
  expect(placed).toMatchObject([{ scope: 'brand:AMAZON/DE', until: soon.until }])
  expect(changes).toMatchObject({ offers: 1, noLongerSold: 1 })
  const state = await stateOfRules(database)
  await database.query('alter table selling_rules disable trigger user')
  await database.query(`update selling_rules set placed_at = '2020-01-01', until = '2020-01-02'`)
  await database.query('alter table selling_rules enable trigger user')
  expect(await rulesOf(anna, 'in force')).toEqual([])
  expect(await stateOfRules(database)).not.toBe(state)
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
  expect(inForce.map(({ id }) => id)).toEqual(both.map(({ placed }) => placed[0]?.rule).sort())
})

test('a rule ends once, and who ends it again learns who did', async () => {
  await place('brand:AMAZON', pause)
  const end = (operator: Operator) =>
    endSellingRules(operator, {
      ...{
        which: ['brand:amazon'],
        effects: ['pause'],
        act: 'sales resume',
        reason: 'codes are back',
      },
    })
  const { ended, changes } = await end(operatorOf('bert'))
  expect(ended).toMatchObject([
    { scope: 'brand:AMAZON', ended: { by: 'bert', why: 'codes are back' } },
  ])
  expect(changes).toMatchObject({ soldAgain: 3 })
  await expect(end(anna)).rejects.toThrow(/was ended by bert at .*: codes are back/)
  await expect(database.query(`update selling_rules set ended_by = 'eve'`)).rejects.toThrow('keeps')
  await expect(database.query('delete from selling_rules')).rejects.toThrow('keeps')
  expect((await readActs(database, { limit: 9 })).map(({ act }) => act)).toEqual([
    'sales resume',
    'price set',
  ])
})

test('the rules go out as a file and come in again, and what is in force is kept', async () => {
  await place('everything', margin(-200, 30))
  await place('brand:AMAZON', { type: 'name', text: '=cmd|"/c calc"!A1' })
  const rules = await rulesOf(anna, 'in force')
  const file = ruleFileOf(rules)
  expect(file).toContain('everything,margin,-200,0.30,,')
  expect(file).toContain(`"'=cmd|""/c calc""!A1"`)
  const { wanted, faults } = readRuleFile(file)
  expect(faults).toEqual([])
  const again = await placeRules(anna, wanted, { act: 'price import', reason: 'same' })
  expect(again).toMatchObject({ placed: [], kept: 2 })
  expect(await rulesOf(anna, 'in force')).toEqual(rules)
})

test('a file with broken rows changes nothing, and every one of them is named', async () => {
  const file = [
    'scope,effect,margin_bps,fixed_usd',
    'brand:AMAZON,margin,200,0.30',
    'brand:AMZON,margin,200,',
    'brand:AMAZON,margin,two,',
    'everything,margin,-10000,0',
    'everything,discount,1,',
    'everything,margin',
    '"everything,margin,1,',
  ].join('\n')
  const { wanted, faults } = readRuleFile(file)
  const placing = { act: 'price import', reason: 'summer', faults }
  const refused = await placeRules(anna, wanted, placing).catch((error: Error) => error.message)
  expect(
    String(refused)
      .split('\n')
      .map((line) => line.slice(0, 7))
      .sort(),
  ).toEqual([3, 4, 5, 6, 7, 8].map((line) => `Line ${line}:`))
  expect(await rulesOf(anna, 'all')).toEqual([])
})

test.each(['', 'scope', 'scope,effect,colour\n', '\u0000'])('the file %j is no rules', (file) => {
  expect(readRuleFile(file).faults).toEqual([expect.stringContaining('it must name the columns')])
})

test('the state of the rules changes with each that comes or goes, and with nothing else', async () => {
  const scope = { type: 'everything', key: '' } as const
  const seen = [await stateOfRules(database)]
  await addRules(database, [{ scope, effect: pause, why: 'x' }], 'anna')
  seen.push(await stateOfRules(database))
  expect(await stateOfRules(database)).toBe(seen[1])
  await addRules(database, [{ scope, effect: pause, why: 'x' }], 'anna')
  seen.push(await stateOfRules(database))
  await endSellingRules(anna, {
    which: ['1'],
    effects: ['pause'],
    act: 'sales resume',
    reason: 'x',
  }).catch(() => undefined)
  expect(new Set(seen).size).toBe(3)
})
