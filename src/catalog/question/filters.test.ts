import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Offer } from '../offer.ts'
import { lowestCharge } from '../pricing.ts'
import { coveredBy } from '../search/stock.ts'
import { findFor, type Question } from './find.ts'
import { questionHint } from './hints.ts'
import { sumsFor } from './sums.ts'

const pricing = fixturePricing()
const allowance = { dataGb: 3, durationDays: 30 }
const inGuatemala = { country: 'GT', regions: ['Central America'] }
const offers = [
  voucher('CARD_GT', {
    ...inGuatemala,
    brand: 'CLARO',
    brandName: 'Claro',
    subTypes: ['Shopping'],
  }),
  voucher('CARD_DE', { country: 'DE', regions: ['Western Europe'], subTypes: ['Shopping'] }),
  topup('LINE_GT', { ...inGuatemala, allowance, subTypes: ['bundle'], price: fixed(400) }),
  topup('LINE_PE', { country: 'PE', regions: ['South America'], allowance, price: fixed(900) }),
  esim('PLAN_GT', { country: 'GT', allowance, coverage: [{ country: 'GT', speeds: [] }] }),
  esim('PLANS', {
    regions: ['Central America'],
    allowance,
    price: fixed(700),
    coverage: ['GT', 'SV'].map((country) => ({ country, speeds: [] })),
  }),
]
const { sold } = catalogOf(offers, pricing)

/** Each filter, and what an offer that meets it is. */
const filters: readonly (readonly [Question, (offer: Offer) => boolean])[] = [
  [{ kind: 'voucher' }, ({ kind }) => kind === 'voucher'],
  [{ kind: 'topup' }, ({ kind }) => kind === 'topup'],
  [{ brand: 'claro' }, ({ brandName }) => brandName.startsWith('Claro')],
  [{ country: 'GT' }, (offer) => coveredBy(offer).includes('GT')],
  [
    { covers: ['GT', 'SV'] },
    (offer) => ['GT', 'SV'].every((one) => coveredBy(offer).includes(one)),
  ],
  [
    { regions: 'Americas' },
    ({ kind, country, regions }) =>
      (kind !== 'esim' || country === undefined) && regions.some((one) => /America$/.test(one)),
  ],
  [{ subType: 'bundle' }, ({ subTypes }) => subTypes.includes('bundle')],
  [{ subType: 'Shopping' }, ({ subTypes }) => subTypes.includes('Shopping')],
  [{ minDataGb: 3 }, ({ kind }) => kind !== 'voucher'],
  [{ minDays: 30 }, ({ kind }) => kind !== 'voucher'],
  [{ maxUsdc: 5 }, (offer) => Number(lowestCharge(offer, pricing)) <= 5e6],
  [
    { phone: { country: 'GT', operator: 'Claro' } },
    ({ kind, country }) => kind === 'topup' && country === 'GT',
  ],
  [{ iccid: '8934071100000000001' }, ({ kind }) => kind === 'esim'],
]

const idsIn = (question: Question) =>
  findFor(sold, question, undefined).kinds.flatMap(({ first }) => first(9).map(({ id }) => id))

/** Every two and every three filters that are not of the same name. */
const together = filters.flatMap((one, at) =>
  filters.slice(at + 1).flatMap((two, from) => {
    const three = filters.slice(at + 2 + from).map((other) => [one, two, other])
    return [[one, two], ...three].filter((some) => {
      const names = some.flatMap(([question]) => Object.keys(question))
      return new Set(names).size === names.length
    })
  }),
)

test('every filter goes with every other, and none is passed over', () => {
  expect(together.length).toBeGreaterThan(300)
  for (const some of together) {
    const question: Question = Object.assign({}, ...some.map(([one]) => one))
    const meeting = offers.filter((offer) => some.every(([, meets]) => meets(offer)))
    const ids = idsIn(question)
    const about = JSON.stringify(question)
    expect(
      meeting.map(({ id }) => id),
      about,
    ).toEqual(expect.arrayContaining(ids))
    expect(ids.length > 0, about).toBe(meeting.length > 0)
  }
})

test('filters that nothing meets together are named, with what would find something', () => {
  for (const some of together) {
    const question: Question = Object.assign({}, ...some.map(([one]) => one))
    const found = findFor(sold, question, undefined)
    if (found.total > 0) continue
    const { parameter, nearest, message } = questionHint(found)
    const about = `${JSON.stringify(question)}: ${message}`
    const [, left = ''] = /do without (.*)\.$/.exec(message) ?? []
    const names = nearest === undefined ? left.split(' and ') : [parameter ?? '']
    const value = parameter === 'maxUsdc' ? Number(nearest) : nearest
    const changed = Object.fromEntries(names.map((name) => [name, nearest && value]))
    expect(idsIn({ ...question, ...changed }), about).not.toEqual([])
  }
})

test.each<[Question, string]>([
  [{ kind: 'voucher', minDataGb: 5 }, 'minDataGb does not go with kind voucher.'],
  [{ kind: 'topup', covers: ['GT', 'SV'] }, 'covers does not go with kind topup.'],
  [{ phone: { country: 'GT', operator: undefined }, country: 'DE' }, 'phone does not go with'],
  [{ brand: 'clarro' }, 'No brand is called "clarro". These are sold: Claro.'],
])('%j: "%s"', (question, message) => {
  expect(questionHint(findFor(sold, question, undefined)).message).toContain(message)
})

const line = (id: string, brand: string, more: Partial<Offer>) =>
  topup(id, { brand, brandName: brand, country: 'ES', ...more } as Parameters<typeof topup>[1])
const ten = { faceValue: fixed(1_000, 'EUR') }
const any = { price: open(100, 5_000, 10), faceValue: { ...open(82, 4_134), currency: 'EUR' } }

test('an exact value comes before an open one, of every operator and in every order', () => {
  const spain = [line('V_OPEN', 'Vodafone', any), line('V_10', 'Vodafone', ten)]
  const others = [line('M_OPEN', 'Movistar', any), line('M_10', 'Movistar', ten)]
  const { sold } = catalogOf([...spain, ...others], fixturePricing({ markupBps: 0 }))
  const phone = { country: 'ES', operator: 'Vodafone' }
  const [found] = findFor(sold, { query: '10 euros', phone }, undefined).kinds
  expect(found?.first(9).map(({ id }) => id)).toEqual(['V_10', 'V_OPEN', 'M_10', 'M_OPEN'])
  const cheapest = found?.cheapest(9).map(({ id }) => id)
  expect(cheapest).toEqual(['M_10', 'V_10', 'M_OPEN', 'V_OPEN'])
  const named = findFor(sold, { query: 'vodafone or movistar 10 euros' }, undefined).kinds[0]
  expect(named?.first(2).map(({ id }) => id)).toEqual(['V_10', 'M_10'])
})

test.each<[number[], number, string[]]>([
  [[10, 15, 20], 30, ['2 x 15 GBP']],
  [[10, 20, 50], 80, ['4 x 20 GBP']],
  [[20, 50], 30, ['20 GBP', '2 x 20 GBP']],
  [[12.99], 25.98, ['2 x 12.99 GBP']],
  [[25], 10, ['25 GBP']],
  [[10], 120, ['10 x 10 GBP']],
  [[], 30, []],
])('cards of %j make %d as %j', (values, amount, sums) => {
  const cards = values.map((value) =>
    voucher(`CARD_${value}`, { faceValue: fixed(Math.round(value * 100), 'GBP') }),
  )
  expect(sumsFor(cards, amount)).toEqual(sums)
})

test('an answer without a card of the value names what adds up to it', () => {
  const card = (value: number) =>
    voucher(`UBER_GB_${value}`, {
      ...{ brand: 'UBER', brandName: 'Uber Eats', country: 'GB' },
      faceValue: fixed(value * 100, 'GBP'),
    })
  const { sold } = catalogOf([card(10), card(15), card(20)], pricing)
  const sumsIn = (query: string) => findFor(sold, { query }, undefined).sums
  expect(sumsIn('uber eats london 30 pounds')).toEqual(['2 x 15 GBP'])
  expect(sumsIn('uber eats london 20 pounds')).toEqual([])
  expect(sumsIn('gift card uk 30 pounds')).toEqual([])
})
