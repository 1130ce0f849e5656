import { kindOf } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Pricing, type Retail, retailOf } from '../../catalog/pricing.ts'
import { requiredFieldsOf } from '../../catalog/purchase-body.ts'
import type { Publish } from '../../catalog/ready-json.ts'
import { staleParts } from '../../catalog/staleness.ts'
import { type Cents, usdcDecimals, usdcFromCents } from '../../lib/money.ts'
import type { ReadDeps } from '../deps.ts'
import { discoveryOffer, moneyOf, type Published } from './discovery-offer.ts'

export interface CatalogViewDeps {
  readonly siteUrl: string
  readonly pricing: Pricing
}

/** Both published forms of an offer, for the catalog to keep finished. */
export function publishing({ siteUrl, pricing }: CatalogViewDeps): Publish {
  return (offer) => {
    const retail = retailOf(offer, pricing)
    const discovery = discoveryOffer(offer, retail, { siteUrl, markupBps: pricing.markupBps })
    return { discovery, beyond: beyondDiscovery(offer, retail, discovery) }
  }
}

/**
 * How offers look now, where the finished JSON of the catalog holds no more: new rates, and what becomes
 * too old to sell by, change prices at once, some seconds before the catalog is made again.
 *
 * @returns undefined while the finished JSON holds
 */
export function unfinishedView({ liveCatalog, pricing, site }: ReadDeps) {
  const { rates: built, stale, sizes } = liveCatalog.current()
  const areBuilt = pricing.rates()?.asOf.getTime() === built?.asOf.getTime()
  if (areBuilt && staleParts(pricing, sizes) === stale) return undefined
  return (offer: Offer) => catalogOffer(offer, { siteUrl: site.url, pricing })
}

/** An offer as the catalog interface lists it. */
export function catalogOffer(offer: Offer, { siteUrl, pricing }: CatalogViewDeps): Published {
  const { discovery, beyond } = publishing({ siteUrl, pricing })(offer)
  return { ...discovery, ...beyond }
}

/** What the catalog says of an offer that the discovery form does not. */
function beyondDiscovery(offer: Offer, retail: Retail, discovery: Published): Published {
  const fields = {
    ...kindOf(offer).catalogFields(offer),
    kind: offer.kind,
    productType: offer.productType,
    shortNotes: offer.shortNotes,
    priceType: offer.price.type,
    value: openValueOf(retail),
    faceValue: offer.faceValue && moneyOf(offer.faceValue),
    usdc: usdcOf(retail),
    requiredFields: requiredFieldsOf(offer),
    available: retail.type !== 'NOT_SOLD',
    unavailableReason: retail.type === 'NOT_SOLD' ? retail.reason : undefined,
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in discovery)))
}

/** What may be chosen as the `value` of a purchase, in the unit of that field. */
function openValueOf(retail: Retail): Published | undefined {
  if (retail.type !== 'RANGE') return undefined
  const [min, max, step] = [retail.min, retail.max, retail.increment].map((one) => one / 100)
  return { unit: 'USD', min, max, step }
}

/**
 * What a purchase costs in atomic USDC. Of an open value: what its least and its greatest value cost,
 * and the step from one value to the next, which is no price and has no markup.
 */
function usdcOf(retail: Retail): Published | undefined {
  const atomic = (amount: Cents) => usdcFromCents(amount).toString()
  switch (retail.type) {
    case 'FIXED':
      return { amount: atomic(retail.cents), decimals: usdcDecimals }
    case 'RANGE': {
      const [min, max, increment] = [retail.lowest, retail.highest, retail.increment].map(atomic)
      return { min, max, increment, decimals: usdcDecimals }
    }
    case 'NOT_SOLD':
      return undefined
  }
}
