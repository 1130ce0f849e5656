import type { Offer } from '../catalog/offer.ts'
import { type Pricing, type Retail, retailOf } from '../catalog/pricing.ts'
import {
  isWithin,
  narrowestFirst,
  type Scope,
  type SellingRule,
  type SellingRules,
  sellingRulesOf,
} from '../catalog/selling-rules.ts'
import { readAtOn, type Shelf } from './selling-scopes.ts'

interface ChangedOffer {
  readonly offerId: string
  readonly name: string
  /** The price, or those of the least and the greatest value: "5.10 to 102.00"; null where it is not sold. */
  readonly usdcBefore: string | null
  readonly usdcAfter: string | null
  readonly before: State
  readonly after: State
  /** Whether its margin alone would sell it below its cost or its least margin, which holds its price up. */
  readonly isHeld: boolean
}

type State = 'sold' | 'paused' | 'hidden' | 'unavailable'

export interface Changes {
  /** How many offers have another price or state, or other words. */
  readonly offers: number
  readonly dearer: number
  readonly cheaper: number
  readonly noLongerSold: number
  readonly soldAgain: number
  readonly reworded: number
  /** How many offers of these rules their own margin would sell below their cost or their least margin. */
  readonly held: number
  /** When the exchange rates are of; null without any: then offers in other currencies are not compared. */
  readonly ratesAsOf: Date | null
  readonly list: readonly ChangedOffer[]
}

interface Compared {
  readonly before: readonly SellingRule[]
  readonly after: readonly SellingRule[]
  /** Those that come or go. */
  readonly about: readonly SellingRule[]
}

export function changesBetween(shelf: Shelf, { before, after, about }: Compared): Changes {
  const [was, is] = [viewOf(shelf, before), viewOf(shelf, after)]
  const pairs = shelf.snapshot.offers
    .filter((offer) => about.some(({ scope }) => isWithin(scope, offer)))
    .map((offer) => ({ id: offer.id, old: was(offer), now: is(offer) }))
  const changed = pairs.filter(isChanged)
  const count = (matches: (pair: Pair) => boolean) => changed.filter(matches).length
  return {
    offers: changed.length,
    dearer: count(({ old, now }) => now.least > old.least),
    cheaper: count(({ old, now }) => now.least < old.least),
    noLongerSold: count(({ old, now }) => old.state === 'sold' && now.state !== 'sold'),
    soldAgain: count(({ old, now }) => old.state !== 'sold' && now.state === 'sold'),
    reworded: count(({ old, now }) => old.words !== now.words),
    held: pairs.filter(({ now }) => now.isHeld).length,
    ratesAsOf: shelf.rates?.asOf ?? null,
    list: pairs
      .filter((pair) => pair.now.isHeld || isChanged(pair))
      .map(({ id, old, now }) => ({
        ...{ offerId: id, name: now.name, usdcBefore: old.usdc, usdcAfter: now.usdc },
        ...{ before: old.state, after: now.state, isHeld: now.isHeld },
      })),
  }
}

type View = ReturnType<ReturnType<typeof viewOf>>

interface Pair {
  readonly old: View
  readonly now: View
}

function isChanged({ old, now }: Pair): boolean {
  return now.usdc !== old.usdc || now.state !== old.state || now.words !== old.words
}

/** What buyers see of an offer under some rules. `least` is NaN where it is not sold. */
function viewOf(shelf: Shelf, inForce: readonly SellingRule[]) {
  const rules = sellingRulesOf(inForce)
  const pricing: Pricing = {
    markupBps: shelf.markupBps,
    rules: () => rules,
    rates: () => shelf.rates,
    readAt: readAtOn(shelf),
    now: () => shelf.now,
  }
  return (offer: Offer) => {
    const retail = retailOf(offer, pricing)
    const shown = rules.reworded(offer)
    const state = stateOf(offer, retail, rules)
    const isSold = state === 'sold'
    return {
      state,
      usdc: isSold ? usdcText(retail) : null,
      least: isSold && retail.type !== 'NOT_SOLD' ? leastCents(retail) : Number.NaN,
      isHeld: retail.type !== 'NOT_SOLD' && retail.isHeld === true,
      name: shown.brandName,
      words: shown === offer ? '' : JSON.stringify(shown),
    }
  }
}

function stateOf(offer: Offer, retail: Retail, rules: SellingRules): State {
  if (rules.hides(offer)) return 'hidden'
  if (retail.type !== 'NOT_SOLD') return 'sold'
  return retail.code === 'paused' ? 'paused' : 'unavailable'
}

function leastCents(retail: Exclude<Retail, { type: 'NOT_SOLD' }>): number {
  return retail.type === 'FIXED' ? retail.cents : retail.lowest
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

/** Which of two scopes is narrower, if some offer is of both. */
export function overlap(
  own: Scope,
  other: Scope,
  { snapshot }: Shelf,
): 'own' | 'other' | 'equal' | undefined {
  const isShared = snapshot.offers.some((offer) => isWithin(own, offer) && isWithin(other, offer))
  if (!isShared) return undefined
  if (own.type === other.type) return 'equal'
  const order: readonly Scope['type'][] = narrowestFirst
  return order.indexOf(own.type) < order.indexOf(other.type) ? 'own' : 'other'
}
