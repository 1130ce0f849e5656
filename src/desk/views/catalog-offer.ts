import type { Offer } from '../../goods/offer.ts'
import { isStale, type Pricing, type Retail, retailOf, withMarkup } from '../../goods/pricing.ts'
import { requiredFieldsOf } from '../../goods/purchase-body.ts'
import type { Publish } from '../../goods/ready-json.ts'
import { type Cents, usdcDecimals, usdcFromCents } from '../../primitives/money.ts'
import type { ReadDeps } from '../deps.ts'
import { discoveryOffer, moneyOf, type Published } from './discovery-offer.ts'

export interface CatalogViewDeps {
  readonly siteUrl: string
  readonly pricing: Pricing
}

/** Both published forms of an offer, for the catalog to keep finished. */
export function publishing({ siteUrl, pricing }: CatalogViewDeps): Publish {
  const { markupBps } = pricing
  return (offer) => {
    const discovery = discoveryOffer(offer, { siteUrl, markupBps })
    return { discovery, beyond: beyondDiscovery(offer, discovery, pricing) }
  }
}

/**
 * How offers look now, where the finished JSON of the catalog holds no more: new rates, and rates that
 * become too old, change prices at once, some seconds before the catalog is made again.
 *
 * @returns undefined while the finished JSON holds
 */
export function unfinishedView({ shelf, pricing, site }: ReadDeps) {
  const { rates: built, hasStaleRates } = shelf.current()
  const rates = pricing.rates()
  const areStale = rates !== undefined && isStale(rates, pricing.now())
  const areBuilt = rates?.asOf.getTime() === built?.asOf.getTime()
  if (areBuilt && areStale === hasStaleRates) return undefined
  return (offer: Offer) => catalogOffer(offer, { siteUrl: site.url, pricing })
}

/** An offer as the catalog interface lists it (decisions 3). */
export function catalogOffer(offer: Offer, { siteUrl, pricing }: CatalogViewDeps): Published {
  const discovery = discoveryOffer(offer, { siteUrl, markupBps: pricing.markupBps })
  return { ...discovery, ...beyondDiscovery(offer, discovery, pricing) }
}

/** What the catalog says of an offer that the discovery form does not. */
function beyondDiscovery(offer: Offer, discovery: Published, pricing: Pricing): Published {
  const retail = retailOf(offer, pricing)
  const fields = {
    ...(offer.kind === 'voucher' ? {} : { brandName: offer.brandName, ...offer.allowance }),
    kind: offer.kind,
    productType: offer.productType,
    shortNotes: offer.shortNotes,
    priceType: offer.price.type,
    faceValue: offer.faceValue && moneyOf(offer.faceValue),
    usdc: usdcOf(retail, pricing.markupBps),
    requiredFields: requiredFieldsOf(offer),
    available: retail.type !== 'NOT_SOLD',
    unavailableReason: retail.type === 'NOT_SOLD' ? retail.reason : undefined,
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(name in discovery)))
}

/**
 * What a purchase costs in atomic USDC. Of an open value: what its least, its greatest and one step
 * between values cost.
 */
function usdcOf(retail: Retail, markupBps: number): Published | undefined {
  const cost = (value: Cents) => usdcFromCents(withMarkup(value, markupBps)).toString()
  switch (retail.type) {
    case 'FIXED':
      return { amount: usdcFromCents(retail.cents).toString(), decimals: usdcDecimals }
    case 'RANGE': {
      const [min, max, increment] = [retail.min, retail.max, retail.increment].map(cost)
      return { min, max, increment, decimals: usdcDecimals }
    }
    case 'NOT_SOLD':
      return undefined
  }
}
