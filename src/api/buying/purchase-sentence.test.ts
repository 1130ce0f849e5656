import { expect, test } from 'vitest'
import { fixed, open, voucher } from '../../../test/fixtures/offers.ts'
import { cents, usdcFromCents } from '../../lib/money.ts'
import { purchaseSentence } from './purchase-sentence.ts'

const recipient = { kind: 'voucher', firstName: 'Ada', lastName: 'Lovelace' } as const
const named = { brandName: 'Netflix', country: 'AU' }

test('a value that the supplier gives as it was chosen stands with the card', () => {
  const dollars = open(500, 50_000)
  const card = voucher('A', { ...named, price: dollars, faceValue: dollars })
  const line = { recipient, value: cents(2_500) }
  expect(purchaseSentence(card, line, usdcFromCents(cents(2_500)))).toBe(
    'value 25 = a 25.00 USD Netflix card (AU) for 25.00 USDC',
  )
})

test('a value that the supplier converts is what the card is worth, about', () => {
  const faceValue = { ...open(765, 76_500), currency: 'AUD' }
  const card = voucher('A', { ...named, price: open(500, 50_000), faceValue })
  const line = { recipient, value: cents(50_000) }
  expect(purchaseSentence(card, line, usdcFromCents(cents(50_000)))).toBe(
    'value 500 = a Netflix card (AU) worth about 765.00 AUD for 500.00 USDC',
  )
})

test('a fixed card names its own currency', () => {
  const card = voucher('A', { ...named, price: fixed(1_163), faceValue: fixed(1_000, 'EUR') })
  const line = { recipient, value: undefined }
  expect(purchaseSentence(card, line, usdcFromCents(cents(1_163)))).toBe(
    'a 10.00 EUR Netflix card (AU) for 11.63 USDC',
  )
})
