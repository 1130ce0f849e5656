import { countryName } from '../../catalog/countries.ts'
import { goods } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { bodySchemaFor } from '../../catalog/purchase-body.ts'
import { purchasePath } from '../paths.ts'
import { type CatalogViewDeps, catalogOffer } from './catalog-offer.ts'
import type { Published } from './discovery-offer.ts'

/** The full record of one offer, with all that a caller needs to buy it. */
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

function coverageOf({ country, speeds }: { country: string; speeds: readonly string[] }) {
  return { country, name: countryName(country), speeds }
}
