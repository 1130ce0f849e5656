import type { Offer } from '../catalog/offer.ts'
import { type Retail, retailOf } from '../catalog/pricing.ts'
import { isWithin, type SellingRule, sellingRulesOf } from '../catalog/selling-rules.ts'
import type { Shelf } from './selling-scopes.ts'

export interface Changes {
  /** When the exchange rates are of; null without any: then offers in other currencies are not compared. */
  readonly ratesAsOf: Date | null
  /** The offers that have another price or state, or other words. */
  readonly offers: readonly ChangedOffer[]
}

interface ChangedOffer {
  readonly offerId: string
  readonly name: string
  /** The price, or those of the least and the greatest value: "5.10 to 102.00"; null where it is not sold. */
  readonly usdcBefore: string | null
  readonly usdcAfter: string | null
  readonly before: State
  readonly after: State
}

type State = 'sold' | 'paused' | 'hidden' | 'unavailable'

interface Compared {
  readonly before: readonly SellingRule[]
  readonly after: readonly SellingRule[]
  /** Those that come or go. */
  readonly about: readonly SellingRule[]
}

export function changesBetween(shelf: Shelf, { before, after, about }: Compared): Changes {
  const [was, is] = [viewOf(shelf, before), viewOf(shelf, after)]
  const changed = shelf.offers.flatMap((offer): readonly ChangedOffer[] => {
    if (!about.some(({ scope }) => isWithin(scope, offer))) return []
    const [old, now] = [was(offer), is(offer)]
    if (now.usdc === old.usdc && now.state === old.state && now.words === old.words) return []
    const prices = { usdcBefore: old.usdc, usdcAfter: now.usdc }
    return [{ offerId: offer.id, name: now.name, ...prices, before: old.state, after: now.state }]
  })
  return { ratesAsOf: shelf.pricing.rates()?.asOf ?? null, offers: changed }
}

/** What buyers see of an offer under some rules. */
function viewOf({ pricing }: Shelf, inForce: readonly SellingRule[]) {
  const rules = sellingRulesOf(inForce)
  return (offer: Offer) => {
    const retail = retailOf(offer, { ...pricing, rules: () => rules })
    const shown = rules.reworded(offer)
    const state = rules.hides(offer) ? 'hidden' : stateOf(retail)
    return {
      state,
      usdc: state === 'sold' ? usdcText(retail) : null,
      name: shown.brandName,
      words: shown === offer ? '' : JSON.stringify(shown),
    }
  }
}

function stateOf(retail: Retail): State {
  if (retail.type !== 'NOT_SOLD') return 'sold'
  return retail.code === 'paused' ? 'paused' : 'unavailable'
}

function usdcText(retail: Retail): string | null {
  const dollars = (cents: number) => (cents / 100).toFixed(2)
  switch (retail.type) {
    case 'FIXED':
      return dollars(retail.cents)
    case 'RANGE':
      return `${dollars(retail.lowest)} to ${dollars(retail.highest)}`
    case 'NOT_SOLD':
      return null
  }
}
