import { kindOf } from './good.ts'
import type { Coverage } from './kinds/esim.ts'
import type { Allowance, MoneyRange, Offer } from './offer.ts'

/**
 * What an offer tells its buyer besides its brand. It is stored with the order, because a supplier may change
 * what it lists under the same id.
 */
export interface OfferDetails {
  readonly subTypes: readonly string[]
  readonly price: MoneyRange
  readonly faceValue?: MoneyRange
  readonly allowance?: Allowance
  readonly coverage?: readonly Pick<Coverage, 'country'>[]
  /** The supplier's sentence that says when a plan becomes slow. */
  readonly fairUse?: string
}

/** What is needed to describe an offer, whether it is in the catalog now or stored with an order. */
export interface DescribedOffer
  extends Omit<OfferDetails, 'fairUse'>,
    Pick<Offer, 'kind' | 'country'> {}

/** What a buyer receives for the price, by the rule of the kind. */
export function worthOf(offer: Pick<DescribedOffer, 'kind' | 'price' | 'faceValue'>): Worth {
  return { price: offer.price, faceValue: kindOf(offer).faceValueOf(offer) }
}

export function detailsOf(offer: Offer): OfferDetails {
  const { subTypes, price, faceValue } = offer
  const fairUse = kindOf(offer).fairUseOf?.(offer)
  return {
    subTypes,
    price,
    ...(faceValue === undefined ? {} : { faceValue }),
    ...('allowance' in offer ? { allowance: offer.allowance } : {}),
    ...('coverage' in offer
      ? { coverage: offer.coverage.map(({ country }) => ({ country })) }
      : {}),
    ...(fairUse === undefined ? {} : { fairUse }),
  }
}

/** What a card or a line receives, in its own currency. Major = `amount` / `divisor`. */
export interface FaceValue {
  readonly currency: string
  readonly divisor: number
  readonly amount: number
  /** False if the supplier converts the chosen value, at its own rate on delivery. */
  readonly isExact: boolean
}

/** A price, and what a card or a line receives for it; undefined if there is no such amount. */
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
