import type { Coverage } from './esim.ts'
import type { Allowance, MoneyRange, Offer } from './offer.ts'

/**
 * What an offer tells its buyer besides its brand. It is kept with what was bought, because a supplier
 * changes what it lists under the same id.
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

/** An offer as it was shown. Every offer of now can be told by the same words. */
export interface DescribedOffer
  extends Omit<OfferDetails, 'fairUse'>,
    Pick<Offer, 'kind' | 'country'> {}

export function detailsOf(offer: Offer): OfferDetails {
  const { subTypes, price, faceValue } = offer
  const fairUse = fairUseOf(offer)
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

/** The supplier's sentence that says when a plan becomes slow; undefined where it says none. */
export function fairUseOf({ kind, shortNotes, notes }: Offer): string | undefined {
  if (kind !== 'esim') return undefined
  const sentences = `${shortNotes ?? ''}\n${notes ?? ''}`.split(/(?<=[.!])\s+|\n/)
  return sentences.find((text) => /\d\s*[km]bps/i.test(text) && text.length <= maxSentence)?.trim()
}

const maxSentence = 160
