import { describe, expect, test } from 'vitest'
import { esim, fixed, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { faceValueFor } from './face-value.ts'
import { worthOf } from './offer.ts'

const euros = (min: number, max: number) => ({ ...open(min, max, 1), currency: 'EUR' })

describe('what a card receives', () => {
  test('is its fixed value, exactly', () => {
    const card = voucher('A', { price: fixed(1_163), faceValue: fixed(1_000, 'EUR') })
    const exact = { currency: 'EUR', divisor: 100, amount: 1_000, isExact: true }
    expect(faceValueFor(worthOf(card), undefined)).toEqual(exact)
    expect(
      faceValueFor(worthOf(topup('T', { faceValue: fixed(5_000, 'GTQ') })), undefined),
    ).toMatchObject({
      currency: 'GTQ',
      isExact: true,
    })
  })

  test('is what was chosen where the card is in the same currency', () => {
    const card = voucher('A', { price: open(500, 10_000), faceValue: open(500, 10_000) })
    const chosen = { currency: 'USD', divisor: 100, amount: 1_250, isExact: true }
    expect(faceValueFor(worthOf(card), 1_250)).toEqual(chosen)
  })

  test('is about what the two ranges say where the supplier converts', () => {
    const card = voucher('A', { price: open(500, 50_000), faceValue: euros(430, 43_000) })
    const about = (amount: number) => ({ currency: 'EUR', divisor: 100, amount, isExact: false })
    expect(faceValueFor(worthOf(card), 500)).toEqual(about(430))
    expect(faceValueFor(worthOf(card), 2_500)).toEqual(about(2_150))
    expect(faceValueFor(worthOf(card), 50_000)).toEqual(about(43_000))
    // A fee makes the face value differ from the price even in the same currency.
    const less = voucher('A', { price: open(500, 10_000), faceValue: open(450, 9_500) })
    expect(faceValueFor(worthOf(less), 500)).toEqual({ ...about(450), currency: 'USD' })
  })

  test('is not known before a value is chosen, of a plan, and where nothing is said', () => {
    expect(
      faceValueFor(worthOf(voucher('A', { price: open(1, 2), faceValue: open(1, 2) })), undefined),
    ).toBe(undefined)
    expect(faceValueFor(worthOf(esim('E')), undefined)).toBe(undefined)
    expect(faceValueFor(worthOf(topup('T')), undefined)).toBe(undefined)
  })
})
