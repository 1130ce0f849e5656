import { kindOf } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Retail, retailOf } from '../../catalog/pricing.ts'
import { requiredFieldsOf } from '../../catalog/purchase-body.ts'
import { type Cents, usdcDecimals, usdcFromCents } from '../../lib/money.ts'
import { discoveryOffer, moneyOf, type OfferViewDeps, type Published } from './discovery-offer.ts'

/** An offer as the catalog interface lists it. */
export function catalogOffer(offer: Offer, deps: OfferViewDeps): Published {
  const retail = retailOf(offer, deps.pricing)
  return {
    ...discoveryOffer(offer, deps, retail),
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
