import { exampleBody } from '../../catalog/example-body.ts'
import { findOffer } from '../../catalog/find-offer.ts'
import { goods, kindOf, kinds } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { bodySchemaFor } from '../../catalog/purchase-body.ts'
import { readParams } from '../../catalog/search/params.ts'
import type { ReadDeps } from '../deps.ts'
import { answers, inCatalog, type Reading, refusesAnyQuery } from '../operation.ts'
import { offerPath, purchasePath } from '../paths.ts'
import { OfferDetail } from '../shapes/offers.ts'
import { catalogOffer } from '../views/catalog-offer.ts'

/** The full record of one offer, for each kind. */
export const offerReadings: readonly Reading[] = kinds.map((kind) => ({
  ...inCatalog({
    id: `${kind}Offer`,
    path: offerPath(kind, '{id}'),
    name: `Get one ${goods[kind].words.noun}`,
    description:
      'One offer with its price, its notes, when it is refunded, and the exact schema of the body that buys it.',
    answers: answers('The offer', OfferDetail[kind]),
    ask(given, deps, id = '') {
      readParams(given, {})
      const { liveCatalog } = deps
      return {
        key: id,
        answer: () => offerDetail(findOffer(liveCatalog.current(), kind, id, 'id'), deps),
      }
    },
  }),
  pathParams: { id: { type: 'string', description: 'offerId' } },
  refusals: [...refusesAnyQuery, 'offer_not_found'],
}))

/** The full record of one offer, with everything that a caller needs to buy it. */
export function offerDetail(offer: Offer, { site, pricing }: ReadDeps) {
  const kind = kindOf(offer)
  const url = `${site.url}${purchasePath(offer.kind)}`
  const retail = retailOf(offer, pricing)
  return {
    ...catalogOffer(offer, { siteUrl: site.url, pricing }),
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
