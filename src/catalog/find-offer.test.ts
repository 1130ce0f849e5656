import { expect, test } from 'vitest'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { esim, fixturePricing, voucher } from '../../test/fixtures/offers.ts'
import { findOffer, offerMeantBy } from './find-offer.ts'

const card = (country: string, value: number) =>
  voucher(`NETFLIX_${country}_${value}_EGIFT`, { country, brand: 'NETFLIX', brandName: 'Netflix' })

const catalog = catalogOf(
  [
    card('DE', 25),
    card('DE', 50),
    card('FR', 25),
    esim('ESIM-JP-30D-10GB', {
      coverage: [{ country: 'JP', speeds: ['4G'] }],
      allowance: { dataGb: 10, durationDays: 30 },
    }),
  ],
  fixturePricing(),
)

test.each([
  ['NETFLIX_DE_25', 'NETFLIX_DE_25_EGIFT'],
  ['netflix de 50 egift', 'NETFLIX_DE_50_EGIFT'],
  ['EGIFT_25_FR_NETFLIX', 'NETFLIX_FR_25_EGIFT'],
  ['NETFLX_DE_25_EGIFT', 'NETFLIX_DE_25_EGIFT'],
  ['ESIM-JP-10GB', 'ESIM-JP-30D-10GB'],
])('by %s the one offer was meant that has all of it', (text, id) => {
  expect(offerMeantBy(catalog, text)).toBe(id)
})

test.each([
  'NETFLIX',
  'NETFLIX_DE',
  'NETFLIX_IT_25_EGIFT',
  'NETFLIX_DE_26_EGIFT',
  'ESIM-JP-20GB',
  'NO-SUCH-OFFER',
  '',
  `NETFLIX_DE_25_${'X'.repeat(200)}`,
])('by %s none is proposed: several have it, or another value or country would be', (text) => {
  expect(offerMeantBy(catalog, text)).toBeUndefined()
})

test('an id in another case is found also beside one with other signs between its words', () => {
  const both = catalogOf([voucher('NETFLIX-DE_25'), voucher('NETFLIX_DE_25')], fixturePricing())
  expect(findOffer(both, 'voucher', 'netflix_de_25', 'offerId').id).toBe('NETFLIX_DE_25')
  expect(findOffer(both, 'voucher', 'netflix-de_25', 'offerId').id).toBe('NETFLIX-DE_25')
})
