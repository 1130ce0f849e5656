import { idInCapitals } from '../lib/ids.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Catalog } from './catalog.ts'
import { isCountry } from './countries.ts'
import { kinds } from './good.ts'
import { goods } from './kinds.ts'
import type { Kind, Offer } from './offer.ts'
import { brandLexicon, brandsLike } from './search/brand-lexicon.ts'
import { echoOf } from './search/params.ts'
import type { SearchIndex } from './search/search-index.ts'
import { isTypoOf } from './search/words.ts'

/**
 * The offer of this kind with this id, in any case.
 *
 * @param kind undefined for any kind
 * @param parameter the caller's name for the id, for the refusal
 * @throws Refusal `offer_not_found`, with the id that was probably meant
 */
export function findOffer(
  catalog: Pick<Catalog, 'ids' | 'sold'>,
  kind: Kind | undefined,
  id: string,
  parameter: string,
): Offer {
  const offer = catalog.ids.find(id) ?? offerInOtherCase(catalog, id.trim())
  if (offer !== undefined && (kind === undefined || offer.kind === kind)) return offer
  if (offer !== undefined && kind !== undefined) {
    const message = `Offer ${offer.id} is ${oneOf(offer.kind)}, not ${oneOf(kind)}. Ask for it among the ${goods[offer.kind].plural}.`
    throw new Refusal('offer_not_found', message, { parameter })
  }
  const meant = catalog.ids.findLike(id.trim())?.id ?? offerMeantBy(catalog, id)
  const message = `There is no offer with the id ${echoOf(id)}.`
  throw new Refusal(
    'offer_not_found',
    meant === undefined
      ? `${message} Find one with a search.`
      : `${message} Did you mean ${meant}?`,
    { parameter, ...(meant === undefined ? {} : { extra: { didYouMean: meant } }) },
  )
}

function offerInOtherCase({ ids }: Pick<Catalog, 'ids'>, id: string): Offer | undefined {
  const offer = ids.findLike(id)
  return offer && idInCapitals(offer.id) === idInCapitals(id) ? offer : undefined
}

/** The noun of a kind with its article: "an eSIM plan". */
function oneOf(kind: Kind): string {
  const { article, noun } = goods[kind].words
  return `${article} ${noun}`
}

/** The most offers of each kind that are compared with an id. */
const maxCompared = 200
/** No id is longer. */
const maxId = 100

/**
 * The id that was probably meant by one that no offer has: the only one with all its parts, of which one word
 * may be misspelled. Numbers and country codes must match exactly, because a card of another value or country is
 * another card.
 */
export function offerMeantBy({ sold }: Pick<Catalog, 'sold'>, text: string): string | undefined {
  const wanted = partsOf(text)
  if (wanted.length < 2 || text.length > maxId) return undefined
  const ids = kinds.flatMap((kind) => candidatesIn(sold[kind], wanted).map(({ id }) => id))
  const meant = ids.filter((id) => hasAll(partsOf(id), wanted))
  return meant.length === 1 ? meant[0] : undefined
}

/** Offers of the brands and the country that are among the parts of an id. */
function candidatesIn(index: SearchIndex, parts: readonly string[]): readonly Offer[] {
  const lexicon = brandLexicon(index)
  const words = parts.filter((part) => /^[A-Z]{3,}$/.test(part)).map((part) => part.toLowerCase())
  const brandKeys = words.flatMap(
    (word) => lexicon.whole.get(word) ?? lexicon.parts.get(word) ?? brandsLike(lexicon, word),
  )
  const covers = parts.filter(isCountry)
  if (brandKeys.length + covers.length === 0) return []
  const filters = brandKeys.length === 0 ? { covers } : { brandKeys, covers }
  return index.search(filters, { offset: 0, limit: maxCompared }).offers
}

function partsOf(id: string): string[] {
  return id
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .filter((part) => part !== '')
}

function hasAll(parts: readonly string[], wanted: readonly string[]): boolean {
  const missing = wanted.filter((part) => !parts.includes(part))
  const [only = ''] = missing
  if (missing.length === 0) return true
  return (
    missing.length === 1 && /^[A-Z]{4,}$/.test(only) && parts.some((part) => isTypoOf(only, part))
  )
}
