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
