import { Refusal } from '../lib/refusal.ts'
import type { Catalog } from './catalog.ts'
import { goods } from './good.ts'
import type { Kind, Offer } from './offer.ts'

/**
 * The offer of this kind with this id.
 *
 * @param kind undefined where any will do
 * @param parameter how whoever asks calls the id
 * @throws Refusal `offer_not_found`, with the id that was probably meant
 */
export function findOffer(
  catalog: Pick<Catalog, 'find' | 'findLike'>,
  kind: Kind | undefined,
  id: string,
  parameter: string,
): Offer {
  const offer = catalog.find(id)
  if (offer !== undefined && (kind === undefined || offer.kind === kind)) return offer
  if (offer !== undefined) {
    const message = `The offer ${offer.id} is a ${offer.kind} and no ${kind}: ask for it among the ${goods[offer.kind].plural}.`
    throw new Refusal('offer_not_found', message, { parameter })
  }
  const meant = catalog.findLike(id.trim())?.id
  throw new Refusal(
    'offer_not_found',
    meant === undefined
      ? `There is no offer with this ${parameter}.`
      : `There is no offer with this ${parameter}. Did you mean ${meant}?`,
    { parameter, ...(meant === undefined ? {} : { extra: { didYouMean: meant } }) },
  )
}
