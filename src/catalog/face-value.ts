// Apart from the offers because the wallet's script of the page carries it.
import type { MoneyRange } from './offer.ts'

/** What a card or a line receives, in its own currency. Major = `amount` / `divisor`. */
export interface FaceValue {
  readonly currency: string
  readonly divisor: number
  readonly amount: number
  /** False if the supplier converts the chosen value, at its own rate on delivery. */
  readonly isExact: boolean
}

export interface Worth {
  readonly price: MoneyRange
  readonly faceValue?: MoneyRange | undefined
}

/**
 * What a purchase gives in the card's own currency. A value that was chosen in another currency is converted by
 * the ratio of the offer's two ranges, which is all that is known before delivery. Undefined if the supplier
 * names no face value.
 *
 * @param value what was chosen of an open value, in minor units of the offer's price
 */
export function faceValueFor(
  { price, faceValue: face }: Worth,
  value: number | undefined,
): FaceValue | undefined {
  if (face === undefined) return undefined
  const { currency, divisor } = face
  if (face.type === 'FIXED') return { currency, divisor, amount: face.fixed, isExact: true }
  if (price.type !== 'RANGE' || value === undefined) return undefined
  const isSame =
    currency === price.currency &&
    face.min * price.divisor === price.min * divisor &&
    face.max * price.divisor === price.max * divisor
  if (isSame) return { currency, divisor, amount: (value * divisor) / price.divisor, isExact: true }
  const share = price.max === price.min ? 0 : (value - price.min) / (price.max - price.min)
  const amount = Math.round(face.min + share * (face.max - face.min))
  return { currency, divisor, amount, isExact: false }
}
