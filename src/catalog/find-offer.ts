import { idInCapitals } from '../lib/ids.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Catalog } from './catalog.ts'
import { goods } from './good.ts'
import type { Kind, Offer } from './offer.ts'
import { offerMeantBy } from './offer-meant.ts'
import { echoOf } from './search/param-source.ts'

/**
 * The offer of this kind with this id, in whatever case its letters are.
 *
 * @param kind undefined where any will do
 * @param parameter how whoever asks calls the id
 * @throws Refusal `offer_not_found`, with the id that was probably meant
 */
export function findOffer(
  catalog: Pick<Catalog, 'find' | 'findLike' | 'sold' | 'rates'>,
  kind: Kind | undefined,
  id: string,
  parameter: string,
): Offer {
  const offer = catalog.find(id) ?? offerInOtherCase(catalog, id.trim())
  if (offer !== undefined && (kind === undefined || offer.kind === kind)) return offer
  if (offer !== undefined && kind !== undefined) {
    const message = `Offer ${offer.id} is ${oneOf(offer.kind)}, not ${oneOf(kind)}. Ask for it among the ${goods[offer.kind].plural}.`
    throw new Refusal('offer_not_found', message, { parameter })
  }
  const meant = catalog.findLike(id.trim())?.id ?? offerMeantBy(catalog, id)
  const message = `There is no offer with the id ${echoOf(id)}.`
  throw new Refusal(
    'offer_not_found',
    meant === undefined
      ? `${message} Find one with a search.`
      : `${message} Did you mean ${meant}?`,
    { parameter, ...(meant === undefined ? {} : { extra: { didYouMean: meant } }) },
  )
}

function offerInOtherCase({ findLike }: Pick<Catalog, 'findLike'>, id: string): Offer | undefined {
  const offer = findLike(id)
  return offer && idInCapitals(offer.id) === idInCapitals(id) ? offer : undefined
}

/** One good of a kind, as programs read of it: "an eSIM plan". */
function oneOf(kind: Kind): string {
  const { article, noun } = goods[kind].words
  return `${article} ${noun}`
}
