import type { MoneyRange } from './offer-base.ts'

/** What a card or a line receives, in its own currency. Major = `amount` / `divisor`. */
export interface FaceValue {
  readonly currency: string
  readonly divisor: number
  readonly amount: number
  /** False where the supplier converts what was chosen, at a rate of its own when it delivers. */
  readonly isExact: boolean
}

/** A price, and what a card or a line receives for it where there is such an amount. */
export interface Worth {
  readonly price: MoneyRange
  readonly faceValue?: MoneyRange | undefined
}

/**
 * What a purchase gives in the card's own currency. A value that was chosen in another currency is
 * converted as the offer's two ranges stand to each other, which is all that is known before it is
 * delivered. Undefined where the supplier says nothing of it.
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
