import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { esim, fixturePricing, voucher } from '../../../test/fixtures/offers.ts'
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

test('a limit in a currency without a rate is left out, and named', () => {
  expect(asked('spotify under 100 dirhams')).toMatchObject({ total: 1, leftOut: ['100 AED'] })
  expect(asked('spotify over 5 naira')).toMatchObject({ total: 1, leftOut: ['5 NGN'] })
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
