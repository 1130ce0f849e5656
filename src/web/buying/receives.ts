import { type FaceValue, faceValueFor, type Worth } from '../../catalog/face-value.ts'
import { amountText } from '../shop/money-text.ts'
import { fieldValue, filled } from './field-value.ts'

export interface ReceivesWords {
  /** "You get {money}." */
  readonly text: string
  /** "about {money}" */
  readonly about: string
  /** How numbers are written: a BCP 47 tag. */
  readonly language: string
}

/**
 * What a card or a line receives for a typed amount, in its own currency. Empty if that is the amount itself, or if the
 * amount cannot be bought. Used by the server, and by the script while somebody types.
 */
export function receivesText(worth: Worth, typed: string, words: ReceivesWords): string {
  const face = faceOf(worth, typed)
  if (face === undefined) return ''
  const { amount, currency, divisor, isExact } = face
  const money = amountText(amount, currency, divisor, words.language)
  return filled(words.text, { money: isExact ? money : filled(words.about, { money }) })
}

function faceOf(worth: Worth, typed: string): FaceValue | undefined {
  const { price } = worth
  const value = fieldValue('value', typed)
  if (price.type !== 'RANGE' || typeof value !== 'number') return undefined
  const chosen = Math.round(value * price.divisor)
  if (chosen < price.min || chosen > price.max) return undefined
  const face = faceValueFor(worth, chosen)
  return face?.isExact && face.currency === price.currency ? undefined : face
}
