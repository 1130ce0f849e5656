import { exampleBody } from '../../catalog/example-body.ts'
import { kindOf } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { bodySchemaFor } from '../../catalog/purchase-body.ts'
import { purchasePath } from '../paths.ts'
import { type CatalogViewDeps, catalogOffer } from './catalog-offer.ts'
import type { Published } from './discovery-offer.ts'

/** The full record of one offer, with all that a caller needs to buy it. */
export function offerDetail(offer: Offer, deps: CatalogViewDeps): Published {
  const kind = kindOf(offer)
  const url = `${deps.siteUrl}${purchasePath(offer.kind)}`
  const retail = retailOf(offer, deps.pricing)
  return {
    ...catalogOffer(offer, deps),
    notes: offer.notes,
    ...kind.detailFields(offer),
    refundRule: kind.refundRule,
    purchase: {
      method: 'POST',
      url,
      quoteUrl: `${url}?offerId=${encodeURIComponent(offer.id)}`,
      bodySchema: bodySchemaFor(offer, retail),
      example: exampleBody(offer, retail),
    },
  }
}
