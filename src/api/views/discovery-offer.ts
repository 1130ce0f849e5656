import { kindOf } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import type { MoneyRange } from '../../catalog/offer-base.ts'
import { type Pricing, type Retail, retailOf, withMarkup } from '../../catalog/pricing.ts'
import { buyPath } from '../paths.ts'

/** A price as published: always an object, with integers in minor units (docs/contributors/decisions/003). */
export interface PublishedMoney {
  readonly currency: string
  readonly currencyDivisor: number
  readonly fixed?: number
  readonly min?: number
  readonly max?: number
}

/** A published record. Fields that are undefined are absent from the JSON. */
export type Published = Readonly<Record<string, unknown>>

export interface OfferViewDeps {
  readonly siteUrl: string
  readonly pricing: Pricing
}

/** Renders an offer for a list. */
export type View = (offer: Offer) => Published

/** An offer as the discovery interface shows it: the published fields and no others. */
export function discoveryOffer(
  offer: Offer,
  { siteUrl, pricing }: OfferViewDeps,
  retail: Retail = retailOf(offer, pricing),
): Published {
  return {
    offerId: offer.id,
    brand: offer.brand,
    country: offer.country,
    regions: offer.regions,
    subTypes: offer.subTypes,
    price: priceOf(offer, retail, pricing.markupBps),
    buy_url: `${siteUrl}${buyPath(offer.id)}`,
    ...kindOf(offer).discoveryFields(offer),
  }
}

/**
 * The exact price in dollars if the supplier's price is in dollars or does not determine ours. Otherwise the supplier's
 * price in its own currency, with the markup. For an open value, the range of values.
 */
function priceOf({ price }: Offer, retail: Retail, markupBps: number): PublishedMoney {
  const dollars = { currency: 'USD', currencyDivisor: 100 }
  if (retail.type === 'RANGE') return { ...dollars, min: retail.min, max: retail.max }
  const isAsked = price.currency === 'USD' || (retail.type === 'FIXED' && retail.by === 'cost')
  if (retail.type === 'FIXED' && isAsked) return { ...dollars, fixed: retail.cents }
  return moneyOf(price, (minor) => withMarkup(minor, markupBps))
}

/** Money in its published form, with each amount mapped by `change`. */
export function moneyOf(
  money: MoneyRange,
  change: (minor: number) => number = (minor) => minor,
): PublishedMoney {
  const { currency, divisor } = money
  const unit = { currency, currencyDivisor: divisor }
  return money.type === 'FIXED'
    ? { ...unit, fixed: change(money.fixed) }
    : { ...unit, min: change(money.min), max: change(money.max) }
}
