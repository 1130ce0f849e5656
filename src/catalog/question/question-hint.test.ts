import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Question } from './find.ts'
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
  const found = findFor(indexes, question, rates)
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
  expect(hintOf({ query: 'claro', phoneCountry: 'ES' })).toEqual({ message })
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
