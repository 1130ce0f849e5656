import { findOffer } from '../../catalog/find-offer.ts'
import { goods, kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { ParamSource } from '../../catalog/search/param-source.ts'
import { readParams } from '../../catalog/search/params.ts'
import type { ReadDeps } from '../deps.ts'
import { answers, type Operation, refusesAnyQuery } from '../operation.ts'
import { offerPath } from '../paths.ts'
import type { Query } from '../query.ts'
import { OfferDetail } from '../shapes/offers.ts'
import { offerDetail } from '../views/offer-detail.ts'

/** The full record of one offer: how to read it for each kind. */
export interface OfferReading extends Operation {
  readonly kind: Kind
}

export const offerReadings: readonly OfferReading[] = kinds.map((kind) => ({
  id: `${kind}Offer`,
  kind,
  method: 'GET',
  path: offerPath(kind, '{id}'),
  group: 'Catalog',
  name: `Get one ${goods[kind].words.noun}`,
  description:
    'One offer with its price, its notes, when it is refunded, and the exact schema of the body that buys it.',
  pathParams: { id: { type: 'string', description: 'offerId' } },
  answers: answers('The offer', OfferDetail[kind]),
  refusals: [...refusesAnyQuery, 'offer_not_found'],
  limit: 'reading',
  access: 'free',
}))

/** @throws Refusal `offer_not_found` when the question is answered */
export function askOffer(kind: Kind, id: string, given: ParamSource, deps: ReadDeps): Query {
  readParams(given, {})
  return { key: id, answer: () => detailOf(kind, id, deps) }
}

function detailOf(kind: Kind, id: string, { liveCatalog, pricing, site }: ReadDeps) {
  const offer = findOffer(liveCatalog.current(), kind, id, 'id')
  return offerDetail(offer, { siteUrl: site.url, pricing })
}
