import { expect, test } from 'vitest'
import { priceText } from './search.ts'

test.each([
  [{ currency: 'USD', currencyDivisor: 100, fixed: 2_500 }, '25.00 USD'],
  [{ currency: 'JPY', currencyDivisor: 1, fixed: 1_500 }, '1500 JPY'],
  [{ currency: 'KWD', currencyDivisor: 1_000, min: 500, max: 20_000 }, '0.500 to 20.000 KWD'],
])('%j reads %s', (price, text) => {
  expect(priceText(price)).toBe(text)
})
