import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixed, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import { findFor } from './find.ts'
import { questionHint } from './question-hint.ts'

const card = (id: string, country: string, value: number, currency: string) =>
  voucher(id, {
    brand: 'STEAM',
    brandName: 'Steam',
    country,
    price: fixed(value * 90),
    faceValue: fixed(value * 100, currency),
  })

const { sold, rates } = catalogOf(
  [
    card('US_20', 'US', 20, 'USD'),
    card('US_50', 'US', 50, 'USD'),
    card('CA_20', 'CA', 20, 'CAD'),
    card('DE_25', 'DE', 25, 'EUR'),
    card('PL_20', 'PL', 20, 'PLN'),
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
  ],
  fixturePricing(),
)

function answerTo(query: string) {
  const found = findFor(sold, { query }, rates, 5)
  const ids = found.kinds.flatMap(({ offers }) => offers.map(({ id }) => id as string))
  const hint = questionHint({ indexes: sold, question: { query }, found, rates })
  return { ids, leftOut: found.leftOut, hint: found.total === 0 ? hint : undefined }
}

test.each([
  ['steam $20', ['US_20'], []],
  ['steam CA$20', ['CA_20'], []],
  ['steam 20 dollars canada', ['CA_20'], []],
  ['steam 20 zł', ['PL_20'], []],
  ['mtn 12000 shillings', ['MTN_UG_12000'], []],
  ['mtn uganda UGX 12000', ['MTN_UG_12000'], []],
  ['STEAM DE 25', ['DE_25'], []],
  ['tarjeta steam de $20', ['US_20'], []],
  ['steam de 25 euros', ['DE_25'], []],
  // Without a currency: dollars for a card, what is used there for a country, and else whatever there is.
  ['steam 20', ['US_20'], []],
  ['steam germany 25', ['DE_25'], []],
  ['steam 25', ['DE_25'], []],
  ['mtn 12.000', ['MTN_UG_12000'], []],
  ['mtn 100', ['MTN_GH_OPEN'], []],
  // Nothing has this value, so the nearest thing that misleads nobody is found, and the answer says so.
  ['steam $30', ['US_20', 'US_50'], ['$30']],
  ['steam canada C$30', ['CA_20'], ['C$30']],
  ['steam germany 900 yen', ['DE_25'], ['900 yen']],
  ['steam canada 900', ['CA_20'], ['900']],
  ['steam between $20 and $60', ['DE_25', 'US_50'], []],
  ['steam 20-60 USD', ['DE_25', 'US_50'], []],
  ['steam 20.00', ['US_20'], []],
  // No value at all.
  ['steam 20 coins canada', ['CA_20'], ['coins', '20 coins']],
  ['2 steam cards of $20', ['US_20'], ['2']],
  ['steam $20 4 5', ['US_20'], ['4', '5']],
])('"%s" finds %j and leaves out %j', (query, ids, leftOut) => {
  expect(answerTo(query)).toMatchObject({ ids, leftOut })
})

test.each([
  ['steam ₹1000', 'No vouchers of Steam have a value in INR.'],
  ['steam S$20', 'No vouchers of Steam have a value in SGD.'],
  ['steam Q$50', 'No vouchers of Steam have a value in Q$.'],
  ['a gift card of 500 rupees', 'No vouchers have a value in INR.'],
])(
  '"%s" finds no card of another currency, which would be for another country',
  (query, message) => {
    expect(answerTo(query)).toMatchObject({ ids: [], hint: { message } })
  },
)
