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

/** Makes both published forms of an offer, which the catalog stores as finished JSON. */
export function publishing({ siteUrl, pricing }: CatalogViewDeps): Publish {
  return (offer) => {
    const retail = retailOf(offer, pricing)
    const discovery = discoveryOffer(offer, retail, { siteUrl, markupBps: pricing.markupBps })
    return { discovery, beyond: beyondDiscovery(offer, retail, discovery) }
  }
}

/**
 * Renders offers anew while the finished JSON of the catalog is out of date: new rates, and data that becomes too old,
 * change prices at once, a few seconds before the catalog is rebuilt.
 *
 * @returns undefined while the finished JSON is current
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

/** The fields of an offer in the catalog interface that the discovery form does not have. */
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

/** The range of the field `value` of a purchase, in its unit. */
function openValueOf(retail: Retail): Published | undefined {
  if (retail.type !== 'RANGE') return undefined
  const [min, max, step] = [retail.min, retail.max, retail.increment].map((one) => one / 100)
  return { unit: 'USD', min, max, step }
}

/**
 * The price of a purchase in atomic USDC. For an open value: the prices of the least and the greatest value, and the
 * step of values, which is not a price and has no markup.
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
