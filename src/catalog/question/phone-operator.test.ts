import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixed, fixturePricing, topup } from '../../../test/fixtures/offers.ts'
import { findFor } from './find.ts'
import { likelyOperator } from './phone-operator.ts'
import { readPhonePlace } from './phone-place.ts'

test.each([
  ['234', '8031234567', 'MTN'],
  ['234', '8021234567', 'Airtel'],
  ['49', '15123456789', 'T-Mobile'],
  ['53', '55564362', 'Cubacel'],
  ['1', '2125550123', undefined],
  ['999', '1234567', undefined],
])('the number +%s %s was assigned to %s', (countryCallingCode, nationalNumber, operator) => {
  expect(likelyOperator({ countryCallingCode, nationalNumber })).toBe(operator)
})

test.each([
  ['+234 803 123 4567', undefined, 'MTN'],
  ['00234 803 123 4567', undefined, 'MTN'],
  ['2348031234567', undefined, 'MTN'],
  ['0803 123 4567', 'NG', 'MTN'],
  ['+1 212 555 0123', undefined, undefined],
])('the operator of %s, read in %s, is %s', (number, country, operator) => {
  expect(readPhonePlace(`top up ${number}`, country)?.operator).toBe(operator)
})

const price = (usdc: number) => ({ price: fixed(usdc), faceValue: fixed(usdc * 1_000, 'NGN') })
const { sold, rates } = catalogOf(
  [
    topup('GLO_NG_1', { brand: 'GLO', brandName: 'Glo', country: 'NG', ...price(100) }),
    topup('MTN_NG_2', { brand: 'MTN', brandName: 'MTN Nigeria', country: 'NG', ...price(200) }),
    topup('GLO_NG_3', { brand: 'GLO', brandName: 'Glo', country: 'NG', ...price(300) }),
    topup('MTN_NG_4', { brand: 'MTN', brandName: 'MTN Nigeria', country: 'NG', ...price(400) }),
    topup('MTN_GH_1', { brand: 'MTN_GH', brandName: 'MTN Ghana', country: 'GH', ...price(50) }),
  ],
  fixturePricing(),
)

function foundFor(query: string, most = 10) {
  const { kinds, total } = findFor(sold, { query }, rates, most)
  const ids = kinds.flatMap(({ offers }) => offers.map(({ id }) => id))
  return { ids: ids.slice(0, most), total }
}

test('topups of the likely operator come first, and none is lost', () => {
  const ids = ['MTN_NG_2', 'MTN_NG_4', 'GLO_NG_1', 'GLO_NG_3']
  for (const most of [1, 2, 3, 4]) {
    const found = foundFor('+2348031234567', most)
    expect(found).toEqual({ ids: ids.slice(0, most), total: 4 })
  }
})

test('a number may have been taken to the operator that the question names', () => {
  expect(foundFor('glo +2348031234567').ids).toEqual(['GLO_NG_1', 'GLO_NG_3'])
})

test('numbers of an operator that the store does not sell change no order', () => {
  const byPrice = ['GLO_NG_1', 'MTN_NG_2', 'GLO_NG_3', 'MTN_NG_4']
  expect(foundFor('+2348091234567').ids).toEqual(byPrice)
})
