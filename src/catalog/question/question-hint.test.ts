import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Question } from './asked.ts'
import { findFor } from './find.ts'
import { questionHint } from './question-hint.ts'

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
  const found = findFor(indexes, question, rates, 5)
  expect(found.total).toBe(0)
  return questionHint({ indexes, question, found, rates })
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

test('for a country that nothing is sold for, the hint says so and proposes nothing', () => {
  expect(hintOf({ query: 'esim north korea' })).toEqual({
    message: 'No esims are for North Korea.',
  })
})

test('names the lowest price of all kinds that may be meant', () => {
  expect(hintOf({ query: 'guatemala', maxUsdc: 1 })).toEqual({
    parameter: 'maxUsdc',
    nearest: '2.00',
    message: 'No offers cost so little. The cheapest costs 2.00 USDC.',
  })
})

test('proposes a country of the brand only where the rest of the question is met', () => {
  const list = 'Claro is sold for: GT, PE. An offer for another country may not work.'
  const message = `No topups of Claro are for Spain. ${list}`
  const question = { query: 'claro', country: 'ES' }
  expect(hintOf(question)).toEqual({ parameter: 'country', nearest: 'GT', message })
  expect(hintOf({ ...question, minDataGb: 5 })).toMatchObject({ nearest: 'PE', message })
  expect(hintOf({ ...question, minDataGb: 100 })).toEqual({ message })
  // The country of the phone number overrides `country`, so no other country is proposed.
  expect(hintOf({ query: 'claro', phoneCountry: 'ES' })).toEqual({ message })
})

test('proposes countries that one plan covers only where the rest of the question is met', () => {
  const question = { covers: ['JP', 'KP', 'KR'] }
  const message = 'No one plan covers Japan, North Korea, South Korea as asked.'
  expect(hintOf(question)).toEqual({
    parameter: 'covers',
    nearest: 'JP,KR',
    message: `${message} Some cover Japan, South Korea.`,
  })
  expect(hintOf({ ...question, minDataGb: 500 })).toEqual({ message })
  // Countries in the text cannot be replaced by `covers`.
  expect(hintOf({ query: 'esim for japan, north korea and south korea' })).toEqual({ message })
})

test('does not say that a brand is not for a country that one of its plans covers', () => {
  expect(hintOf({ query: 'nomadnet esim spain 500 GB' })).toMatchObject({
    parameter: 'minDataGb',
    nearest: '1',
  })
})

test('where only the budget is too low for a plan of several countries, says that', () => {
  expect(hintOf({ query: 'esim japan south korea', maxUsdc: 5 })).toMatchObject({
    parameter: 'maxUsdc',
    nearest: '9.00',
  })
})

test('blames no words that were left out anyway', () => {
  expect(hintOf({ query: 'spotify qwertz over 1000 dollars' })).toEqual({
    message: 'No vouchers meet all of that.',
  })
  expect(hintOf({ query: 'prada' })).toEqual({ message: 'No offers have "prada".' })
})

test('proposes the days or the data that there are, where the rest of the question is met', () => {
  expect(hintOf({ query: 'esim france for a year' })).toEqual({
    parameter: 'minDays',
    nearest: '7',
    message: 'No esims that meet the rest last so long. Some last 7 days.',
  })
  expect(hintOf({ query: 'esim france', minDataGb: 20 })).toEqual({
    parameter: 'minDataGb',
    nearest: '1',
    message: 'No esims that meet the rest have so much data. Some have 1 GB.',
  })
  expect(hintOf({ query: 'esim north korea for a year' })).not.toHaveProperty('parameter')
})
