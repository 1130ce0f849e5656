import { countryName } from '../../goods/countries.ts'
import { goods } from '../../goods/good.ts'
import type { Offer } from '../../goods/offer.ts'
import { type Pricing, type Retail, retailOf, withMarkup } from '../../goods/pricing.ts'
import { bodySchemaFor, requiredFieldsOf } from '../../goods/purchase-body.ts'
import { type Cents, usdcDecimals, usdcFromCents } from '../../primitives/money.ts'
import type { ReadDeps } from '../deps.ts'
import { purchasePath } from '../paywall.ts'
import { discoveryOffer, moneyOf, type Published } from './discovery-offer.ts'

export interface CatalogViewDeps {
  readonly siteUrl: string
  readonly pricing: Pricing
}

/** `catalogOffer` for a whole page of offers. */
export function catalogView(deps: Pick<ReadDeps, 'site' | 'pricing'>): (offer: Offer) => Published {
  const viewDeps = { siteUrl: deps.site.url, pricing: deps.pricing }
  return (offer) => catalogOffer(offer, viewDeps)
}

/** An offer as the catalog interface lists it (decisions 3). */
function catalogOffer(offer: Offer, { siteUrl, pricing }: CatalogViewDeps): Published {
  const { markupBps } = pricing
  const retail = retailOf(offer, pricing)
  return {
    ...discoveryOffer(offer, { siteUrl, markupBps }),
    ...(offer.kind === 'voucher' ? {} : { brandName: offer.brandName, ...offer.allowance }),
    kind: offer.kind,
    productType: offer.productType,
    shortNotes: offer.shortNotes,
    priceType: offer.price.type,
    faceValue: offer.faceValue && moneyOf(offer.faceValue),
    usdc: usdcOf(retail, markupBps),
    requiredFields: requiredFieldsOf(offer),
    available: retail.type !== 'NOT_SOLD',
    unavailableReason: retail.type === 'NOT_SOLD' ? retail.reason : undefined,
  }
}

/** The full record of one offer, with all that is needed to buy it (decisions 3). */
export function offerDetail(offer: Offer, deps: CatalogViewDeps): Published {
  const url = `${deps.siteUrl}${purchasePath(offer.kind)}`
  return {
    ...catalogOffer(offer, deps),
    notes: offer.notes,
    redemptionInstructions: offer.kind === 'voucher' ? offer.redemptionInstructions : undefined,
    coverage: offer.kind === 'esim' ? offer.coverage.map(coverageOf) : undefined,
    refundRule: goods[offer.kind].refundRule,
    purchase: {
      method: 'POST',
      url,
      quoteUrl: `${url}?offerId=${encodeURIComponent(offer.id)}`,
      bodySchema: bodySchemaFor(offer, retailOf(offer, deps.pricing)),
    },
  }
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

function coverageOf({ country, speeds }: { country: string; speeds: readonly string[] }) {
  return { country, name: countryName(country), speeds }
}
