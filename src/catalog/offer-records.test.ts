import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shopOffers, voucher } from '../../test/fixtures/offers.ts'
import type { Offer } from './offer.ts'
import { offerAt, offersAt, offersIn, packOffers } from './offer-records.ts'

function many(count: number): Offer[] {
  return Array.from({ length: count }, (_, at) => voucher(`V${at}`, { notes: 'n'.repeat(at % 7) }))
}

test.each([0, 1, 7, 8, 9, 16, 17, 129])('%i offers come back, in their rows', (count) => {
  const offers = many(count)
  const records = packOffers(offers)
  expect(records.count).toBe(count)
  expect(offers.map((_, row) => offerAt(records, row))).toEqual(offers)
  const all = [...offersIn(records)]
  expect(all.map(([offer]) => offer)).toEqual(offers)
  expect(all.map(([, json]) => json)).toEqual(offers.map((offer) => JSON.stringify(offer)))
})

test('any rows come back together, in the order in which they are asked for', () => {
  const offers = many(45)
  const records = packOffers(offers)
  fc.assert(
    fc.property(fc.array(fc.nat(44), { maxLength: 30 }), (rows) => {
      const expected = rows.map((row) => offers[row])
      expect(offersAt(records, rows)).toEqual(expected)
      expect(offersAt(records, Uint32Array.from(rows))).toEqual(expected)
    }),
    { numRuns: 100 },
  )
})

test.each([-9, -1, 0.5, 45, 1_000, Number.NaN])(
  'rows come back whole or not at all: %d is none',
  (row) => {
    const missing = new RangeError(`There is no offer in row ${row}`)
    expect(() => offersAt(packOffers(many(45)), [3, row, 44])).toThrow(missing)
  },
)

test('every field of every kind comes back', () => {
  const records = packOffers(shopOffers)
  expect(Array.from(offersIn(records), ([offer]) => offer)).toEqual(shopOffers)
})

test('so does any text: line breaks, quotes, other scripts, half a pair', () => {
  const special = ['a\nb', '\r\n', '\u2028\u2029', '"\\', 'Ärger', '好', '😀', '\ud83d', '\u0000']
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...special))
  fc.assert(
    fc.property(fc.array(text, { maxLength: 70 }), (texts) => {
      const offers = texts.map((notes, at) => voucher(`V${at}`, { notes, brandName: notes }))
      const records = packOffers(offers)
      expect(offers.map((_, row) => offerAt(records, row))).toEqual(offers)
      expect(Array.from(offersIn(records), ([offer]) => offer)).toEqual(offers)
    }),
    { numRuns: 60 },
  )
})

test.each([
  [0, 0],
  [3, 3],
  [8, 8],
  [9, 9],
  [9, 15],
  [9, 16],
  [9, 1_000],
  [9, -1],
  [9, 0.5],
  [9, Number.NaN],
])('of %i offers there is none in row %d', (count, row) => {
  expect(() => offerAt(packOffers(many(count)), row)).toThrow(
    new RangeError(`There is no offer in row ${row}`),
  )
})
