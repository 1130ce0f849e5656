import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import { findFor } from './find.ts'

const { sold, rates } = catalogOf(
  [
    voucher('SPOTIFY_DE_25', { brand: 'SPOTIFY', brandName: 'Spotify', country: 'DE' }),
    esim('ESIM-JP-30D-10GB', {
      coverage: [{ country: 'JP', speeds: ['4G'] }],
      allowance: { dataGb: 10, durationDays: 30 },
    }),
  ],
  fixturePricing(),
)

const asked = (query: string) => findFor(sold, { query }, rates, 5)

test.each([
  ['spotify subscription for 3 months', ['subscription', '3 months']],
  ['spotify membership germany', ['membership']],
  ['esim japan 10 GB 2 weeks', []],
  ['spotify germany', []],
])('the answer to "%s" names what no offer found tells', (query, leftOut) => {
  expect(asked(query)).toMatchObject({ total: 1, leftOut })
})

test('an amount after a phone number is no part of the number', () => {
  const { sold: lines } = catalogOf(
    [
      topup('MTN_NG_OPEN', {
        country: 'NG',
        price: open(100, 5_000, 10),
        faceValue: { ...open(140_000, 7_000_000, 1), currency: 'NGN' },
      }),
      topup('MTN_NG_5000', { country: 'NG', price: fixed(359), faceValue: fixed(500_000, 'NGN') }),
    ],
    fixturePricing(),
  )
  const found = (query: string) => findFor(lines, { query }, rates, 5)
  for (const number of ['+2348031234567', '00234 803 123 4567']) {
    // The buyer of an open value gives it in dollars, though the line receives naira.
    expect(found(`top up ${number} 5 dollars`)).toMatchObject({ total: 1, leftOut: [] })
    expect(found(`top up ${number} 5000 naira`)).toMatchObject({ total: 2, leftOut: [] })
    expect(found(`top up ${number} 70 dollars`)).toMatchObject({
      total: 2,
      leftOut: ['70 dollars'],
    })
  }
})

test('a word that no offer has is left out where the question is about something else', () => {
  expect(asked('i lost my sim in japan')).toMatchObject({ total: 1, leftOut: ['lost'] })
})

test('a limit in a currency without a rate is left out, and named', () => {
  expect(asked('spotify under 100 dirhams')).toMatchObject({
    total: 1,
    leftOut: ['under 100 dirhams'],
  })
  expect(asked('spotify over 5 naira')).toMatchObject({ total: 1, leftOut: ['over 5 naira'] })
  expect(asked('spotify under 100 euros')).toMatchObject({ total: 1, leftOut: [] })
  const { leftOut } = findFor(sold, { query: 'spotify under 9 AED', maxUsdc: 100 }, rates, 5)
  expect(leftOut).toEqual([])
})

test.each([
  { query: 'more than 5 dollars' },
  { query: 'something cheap', maxUsdc: 100 },
  { query: 'more than 5 dollars', kind: 'voucher' },
  { query: 'something cheap', maxUsdc: 100, kind: 'voucher' },
] as const)('an amount of money is enough to find something: %o', (question) => {
  expect(findFor(sold, question, rates, 5).total).toBeGreaterThan(0)
})

test('offers of a test brand are found only by its name, whatever name is shown', () => {
  const { sold: plans } = catalogOf(
    [esim('DIRTY', { brand: 'SANDBOX_DIRTY', brandName: 'World' }), esim('CLEAN')],
    fixturePricing(),
  )
  const found = (query: string) => findFor(plans, { query }, rates, 5).total
  expect([found('esim'), found('sandbox dirty esim')]).toEqual([1, 1])
})
