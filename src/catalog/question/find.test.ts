import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Offer } from '../offer.ts'
import type { Question } from './find.ts'
import { findFor } from './find.ts'
import { questionHint } from './hints.ts'

/** Answers questions over these offers. */
function storeOf(...offers: readonly Offer[]) {
  const { sold, rates } = catalogOf(offers, fixturePricing())
  return (question: string | Question) => {
    const asked = typeof question === 'string' ? { query: question } : question
    const found = findFor(sold, asked, rates)
    const { kinds, total, leftOut } = found
    const ids = kinds.flatMap(({ first }) => first(10).map(({ id }) => id as string))
    const hint = total === 0 ? questionHint(found) : undefined
    return { ids, total, leftOut, hint }
  }
}

const card = (id: string, brandName: string, country: string, face: [number, string]) =>
  voucher(id, {
    brand: brandName.toUpperCase(),
    brandName,
    country,
    price: fixed(face[0] * 90),
    faceValue: fixed(face[0] * 100, face[1]),
  })
const steam = (id: string, country: string, value: number, currency: string) =>
  card(id, 'Steam', country, [value, currency])

const games = storeOf(
  steam('US_20', 'US', 20, 'USD'),
  steam('US_50', 'US', 50, 'USD'),
  steam('CA_20', 'CA', 20, 'CAD'),
  steam('DE_25', 'DE', 25, 'EUR'),
  steam('PL_20', 'PL', 20, 'PLN'),
  topup('MTN_UG_12000', {
    brand: 'MTN',
    brandName: 'MTN',
    country: 'UG',
    price: fixed(350),
    faceValue: fixed(1_200_000, 'UGX'),
  }),
  topup('MTN_GH_OPEN', {
    brand: 'MTN',
    brandName: 'MTN',
    country: 'GH',
    price: open(100, 5_000, 10),
    faceValue: { ...open(1_000, 50_000, 1), currency: 'GHS' },
  }),
)

test.each([
  ['steam $20', ['US_20'], []],
  ['steam CA$20', ['CA_20'], []],
  ['steam 20 zł', ['PL_20'], []],
  ['mtn 12000 shillings', ['MTN_UG_12000'], []],
  ['STEAM DE 25', ['DE_25'], []],
  // Without a currency: dollars for a card, what is used there for a country, and else whatever there is.
  ['steam 20', ['US_20'], []],
  ['steam germany 25', ['DE_25'], []],
  ['steam 25', ['DE_25'], []],
  ['mtn 12.000', ['MTN_UG_12000'], []],
  // Nothing has this value, so the nearest thing that misleads nobody is found, and the answer says so.
  ['steam $30', ['US_20', 'US_50'], ['$30']],
  ['steam canada C$30', ['CA_20'], ['C$30']],
  ['steam germany 900 yen', ['DE_25'], ['900 yen']],
  ['steam between $20 and $60', ['DE_25', 'US_50'], []],
  // No value at all.
  ['2 steam cards of $20', ['US_20'], ['2']],
  // Bounds of the price, however they are worded.
  ['steam, but not above 20 dollars', ['PL_20', 'CA_20', 'US_20'].sort(), []],
  ['steam, not usa, not canada', ['PL_20', 'DE_25'], []],
])('"%s" finds %j and leaves out %j', (query, ids, leftOut) => {
  const found = games(query)
  expect({ ...found, ids: found.ids.toSorted() }).toMatchObject({ ids: ids.toSorted(), leftOut })
})

test.each([
  ['steam ₹1000', 'No vouchers meet all of that. Some do without "₹1000".'],
  ['steam Q$50', 'No vouchers meet all of that. Some do without "Q$50".'],
  ['a gift card of 500 rupees', 'No vouchers meet all of that. Some do without "500 rupees".'],
])(
  '"%s" finds no card of another currency, which would be for another country',
  (query, message) => {
    expect(games(query)).toMatchObject({ ids: [], hint: { message } })
  },
)

const mixed = storeOf(
  card('SPOTIFY_DE_25', 'Spotify', 'DE', [25, 'EUR']),
  esim('ESIM-JP-30D-10GB', {
    coverage: [{ country: 'JP', speeds: ['4G'] }],
    allowance: { dataGb: 10, durationDays: 30 },
  }),
)

test.each([
  ['spotify subscription for 3 months', ['subscription', '3 months']],
  ["I don't know the brand, spotify", ["don't"]],
  ['i lost my sim in japan', ['lost']],
  ['spotify under 100 dirhams', ['under 100 dirhams']],
])('what is found by "%s" does not take %j into account, and says so', (query, leftOut) => {
  expect(mixed(query)).toMatchObject({ total: 1, leftOut })
})

test('a parameter overrides the words, and is enough to find something', () => {
  expect(mixed({ query: 'spotify under 9 AED', maxUsdc: 100 }).leftOut).toEqual(['under 9 AED'])
  expect(mixed({ query: 'something cheap', maxUsdc: 100 }).total).toBe(2)
  expect(mixed({ query: 'something cheap', maxUsdc: 100, kind: 'voucher' }).total).toBe(1)
  expect(mixed({ query: 'more than 5 dollars', kind: 'voucher' }).total).toBe(1)
})

test('a longer list begins as a shorter one does', () => {
  const offers = Array.from({ length: 260 }, (_, at) =>
    voucher(`V_${at}`, {
      brand: at < 250 ? 'A' : `B_${at}`,
      subTypes: ['Restaurant'],
      price: fixed(100 + at),
    }),
  )
  const { sold, rates } = catalogOf(offers, fixturePricing())
  const [found] = findFor(sold, { query: 'restaurants' }, rates).kinds
  const all = found?.first(300).map(({ id }) => id)
  expect(all).toHaveLength(260)
  for (const most of [3, 100, 201, 255]) {
    expect(found?.first(most).map(({ id }) => id)).toEqual(all?.slice(0, most))
  }
})

test('a fixed value comes before one that the buyer chooses', () => {
  const ask = storeOf(
    voucher('OPEN', { price: open(500, 10_000), faceValue: open(500, 10_000) }),
    voucher('FIXED', { price: fixed(2_500), faceValue: fixed(2_500) }),
  )
  expect(ask('gift card $25').ids).toEqual(['FIXED', 'OPEN'])
})

test('an amount after a phone number is no part of the number', () => {
  const ask = storeOf(
    topup('MTN_NG_OPEN', {
      country: 'NG',
      price: open(100, 5_000, 10),
      faceValue: { ...open(140_000, 7_000_000, 1), currency: 'NGN' },
    }),
    topup('MTN_NG_5000', { country: 'NG', price: fixed(359), faceValue: fixed(500_000, 'NGN') }),
  )
  for (const number of ['+2348031234567', '00234 803 123 4567']) {
    // The buyer of an open value gives it in dollars, though the line receives naira.
    expect(ask(`top up ${number} 5 dollars`)).toMatchObject({ total: 1, leftOut: [] })
    expect(ask(`top up ${number} 5000 naira`)).toMatchObject({ total: 2, leftOut: [] })
    expect(ask(`top up ${number} 70 dollars`)).toMatchObject({ total: 2, leftOut: ['70 dollars'] })
  }
})

test('offers of a test brand are found only by its name, whatever name is shown', () => {
  const ask = storeOf(esim('DIRTY', { brand: 'SANDBOX_DIRTY', brandName: 'World' }), esim('CLEAN'))
  expect([ask('esim').total, ask('sandbox dirty esim').total]).toEqual([1, 1])
})

const covering = (...codes: string[]) =>
  codes.map((country) => ({ country, speeds: ['4G'] as const }))

const { sold: indexes, rates } = catalogOf(
  [
    voucher('SPOTIFY_DE_25', { brand: 'SPOTIFY', brandName: 'Spotify', country: 'DE' }),
    topup('CLARO_GT', { price: fixed(200), allowance: { dataGb: 1 } }),
    topup('CLARO_PE_1', { country: 'PE', price: fixed(300), allowance: { dataGb: 1 } }),
    topup('CLARO_PE_5', { country: 'PE', price: fixed(800), allowance: { dataGb: 5 } }),
    topup('CLARO_GT_2', { price: fixed(400), allowance: { dataGb: 1 } }),
    topup('CLARO_GT_3', { price: fixed(600), allowance: { dataGb: 1 } }),
    esim('ESIM_GT', { price: fixed(500), coverage: covering('GT') }),
    esim('ESIM_FR', { country: 'FR', coverage: covering('FR') }),
    esim('ESIM_FR_ES', { coverage: covering('FR', 'ES') }),
    esim('ESIM_JP_KR', { price: fixed(900), coverage: covering('JP', 'KR') }),
  ],
  fixturePricing(),
)

function hintOf(question: Question) {
  const found = findFor(indexes, question, rates)
  expect(found.total).toBe(0)
  return questionHint(found)
}

test.each(['what do you sell', 'any offers', 'do you sell bitcoin'])(
  '"%s" names no goods, and the hint says what to name',
  (query) => {
    expect(hintOf({ query })).toEqual({
      message: expect.stringMatching(
        /^The question names nothing that the store sells. Name a brand/,
      ),
    })
  },
)

test('names the lowest price of all kinds that may be meant', () => {
  expect(hintOf({ query: 'guatemala', maxUsdc: 1 })).toEqual({
    parameter: 'maxUsdc',
    nearest: '2.00',
    message: 'No offers cost so little. The cheapest costs 2.00 USDC.',
  })
  expect(hintOf({ query: 'esim japan south korea', maxUsdc: 5 })).toMatchObject({ nearest: '9.00' })
})

test('proposes a country of the brand only where the rest of the question is met', () => {
  const list = 'Claro is sold for: GT, PE. An offer for another country may not work.'
  const message = `No topups of Claro are for Spain. ${list}`
  const question = { query: 'claro', country: 'ES' }
  expect(hintOf(question)).toEqual({ parameter: 'country', nearest: 'GT', message })
  expect(hintOf({ ...question, minDataGb: 5 })).toMatchObject({ nearest: 'PE', message })
  expect(hintOf({ ...question, minDataGb: 100 })).toEqual({ message })
  // The country of the phone number overrides `country`, so no other country is proposed.
  expect(hintOf({ query: 'claro', phone: { country: 'ES', operator: undefined } })).toEqual({
    message,
  })
})

test.each<[Question, string, string?]>([
  [{ query: 'esim north korea' }, '"north korea"'],
  [{ query: 'esim for japan, north korea and south korea' }, '"north korea"'],
  [{ query: 'esim france for a year' }, '"a year"'],
  [{ query: 'spotify, at least 1000 dollars' }, '"at least 1000 dollars"'],
  [{ query: 'esim france', minDataGb: 20 }, 'minDataGb', 'minDataGb'],
  [{ covers: ['JP', 'KP'] }, 'covers', 'covers'],
])('names what alone is missing: %o', (question, missing, parameter) => {
  const { message, ...rest } = hintOf(question)
  expect(message).toMatch(/^No \w+ meet all of that. Some do without .*\.$/)
  expect(message).toContain(`without ${missing}.`)
  expect(rest).toEqual(parameter === undefined ? {} : { parameter })
})

test('blames no words that were left out anyway', () => {
  expect(hintOf({ query: 'spotify qwertz france esim 900 GB' }).message).not.toContain('qwertz')
  expect(hintOf({ query: 'prada' })).toEqual({ message: 'No offers have "prada".' })
})
