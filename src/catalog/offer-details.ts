import type { Worth } from './face-value.ts'
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
