import { type FaceValue, faceValueFor } from '../../catalog/face-value.ts'
import type { Offer } from '../../catalog/offer.ts'
import { amountText } from '../shop/money-text.ts'
import { fieldValue } from './field-value.ts'

/** Where the amount stands in the words below. */
export const money = '{money}'

export interface ReceivesWords {
  /** "You get {money}." */
  readonly text: string
  /** "about {money}" */
  readonly about: string
  /** How numbers are written: a BCP 47 tag. */
  readonly numbers: string
}

/**
 * What a card or a line receives for an amount as it was typed, in its own currency. Empty where that is
 * the amount itself, or where it cannot be bought. The page says it by this, and so does the script
 * while somebody types.
 */
export function receivesText(offer: Offer, typed: string, words: ReceivesWords): string {
  const face = faceOf(offer, typed)
  if (face === undefined) return ''
  const { amount, currency, divisor, isExact } = face
  const amounts = amountText(amount, currency, divisor, words.numbers)
  return words.text.replace(money, isExact ? amounts : words.about.replace(money, amounts))
}

function faceOf(offer: Offer, typed: string): FaceValue | undefined {
  const { price } = offer
  const value = fieldValue('value', typed)
  if (price.type !== 'RANGE' || typeof value !== 'number') return undefined
  const chosen = Math.round(value * price.divisor)
  if (chosen < price.min || chosen > price.max) return undefined
  const face = faceValueFor(offer, chosen)
  return face?.isExact && face.currency === price.currency ? undefined : face
}
