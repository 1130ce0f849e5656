import { findOffer } from '../../catalog/find-offer.ts'
import { goods, kinds } from '../../catalog/good.ts'
import { readParams } from '../../catalog/search/params.ts'
import { OfferDetail, offerDetail } from '../offers.ts'
import { answers, inCatalog, type Reading, refusesAnyQuery } from '../operation.ts'
import { offerPath } from '../paths.ts'

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
