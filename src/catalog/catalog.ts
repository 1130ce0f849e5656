import { isDeepStrictEqual } from 'node:util'
import { idInCapitals } from '../lib/ids.ts'
import { leastOf, type Usdc } from '../lib/money.ts'
import { Refusal } from '../lib/refusal.ts'
import { atOnce, eachOf, type Sliced } from '../lib/scheduling.ts'
import { isCountry } from './countries.ts'
import { goods } from './kinds.ts'
import { byKind, type Kind, kinds, type ListName, listOf, type Offer } from './offer.ts'
import { type RateTable, readAtOf, type Snapshot } from './ports.ts'
import { lowestCharge, type Pricing } from './pricing.ts'
import { brandLexicon, brandsLike } from './search/brand-lexicon.ts'
import { echoOf } from './search/params.ts'
import { buildIndex, type KindIndex, type SearchIndex } from './search/search-index.ts'
import { isTypoOf } from './search/words.ts'
import { noRules, type SellingRules } from './selling-rules.ts'
import { staleParts } from './staleness.ts'

/** An immutable state of everything on sale. A refresh builds a new one and swaps it in as a whole. */
export interface Catalog extends Snapshot {
  readonly sizes: Readonly<Record<ListName, number>>
  /** All offers as the suppliers list them, as `offers` is. */
  readonly listedIds: Ids
  /** Offers as the store shows them: with the operator's words, and without hidden ones. */
  readonly ids: Ids
  /** The offers that the operator has given other words, by what the supplier lists. */
  readonly reworded: ReadonlyMap<Offer, Offer>
  readonly kinds: Readonly<Record<Kind, KindIndex>>
  readonly listed: Readonly<Record<Kind, SearchIndex>>
  readonly sold: Readonly<Record<Kind, SearchIndex>>
  readonly rates: RateTable | undefined
  readonly rules: SellingRules
  /** What was too old to sell by when it was built (`staleParts`). */
  readonly stale: string
  readonly lowest: Readonly<Partial<Record<Kind, Usdc>>>
}

interface Ids {
  readonly find: (id: string) => Offer | undefined
  /** In another case, or else also with other signs between words, which models change when they copy an id. */
  readonly findLike: (id: string) => Offer | undefined
}

export type Basis = Pick<Catalog, 'rates' | 'rules'> & {
  readonly markupBps: number
  readonly now: Date
}

/** Holds the current catalog. Readers call `current()` once per request and keep that catalog. */
export interface LiveCatalog {
  current(): Catalog
  replace(catalog: Catalog): void
}

export function catalogSummaryOf(liveCatalog: Pick<LiveCatalog, 'current'>) {
  const { offers, rejected, readAt } = liveCatalog.current()
  const aside = Object.values(rejected).reduce((sum, count) => sum + count, 0)
  return { offers: offers.length, rejected: aside, readAt }
}

export function cheapestOf({ lowest }: Pick<Catalog, 'lowest'>): Usdc | undefined {
  return leastOf(Object.values(lowest))
}

export function createLiveCatalog(initial: Catalog = emptyCatalog()): LiveCatalog {
  let catalog = initial
  return {
    current: () => catalog,
    replace: (next) => {
      catalog = next
    },
  }
}

function emptyCatalog(): Catalog {
  const epoch = new Date(0)
  const basis = { markupBps: 0, rules: noRules, rates: undefined, now: epoch }
  return atOnce(buildCatalog({ offers: [], rejected: {}, readAt: epoch }, basis))
}

/** @param last the catalog before it: what both have in common is not built again */
export function* buildCatalog(
  snapshot: Snapshot,
  { markupBps, rules, rates, now }: Basis,
  last?: Catalog,
): Sliced<Catalog> {
  const readAt = (list: ListName) => readAtOf(snapshot, list)
  const pricing: Pricing = {
    markupBps,
    rules: () => rules,
    rates: () => rates,
    readAt,
    now: () => now,
  }
  const { reworded, offersOf, sizes } = yield* shownByKind(snapshot.offers, rules, last?.reworded)
  const built: [Kind, KindIndex][] = []
  for (const kind of kinds) {
    const before = last?.kinds[kind]
    const isSame = yield* areSame(before?.stock.offers, offersOf[kind])
    built.push([kind, yield* buildIndex(offersOf[kind], pricing, isSame ? before : undefined)])
  }
  const indexes = Object.fromEntries(built) as Record<Kind, KindIndex>
  const sold = byKind((kind) => indexes[kind].sold)
  yield* prepareQuestions(sold)
  const isSameList = last?.offers === snapshot.offers
  const listedIds = isSameList ? last.listedIds : yield* idsOf(snapshot.offers)
  return {
    ...snapshot,
    sizes,
    listedIds,
    ids: shownOf(listedIds, reworded, rules),
    reworded,
    kinds: indexes,
    listed: byKind((kind) => indexes[kind].listed),
    sold,
    rates,
    rules,
    stale: staleParts(pricing, sizes),
    lowest: lowestIn(sold, pricing),
  }
}

/** An offer that keeps its words stays the same object, so that no stock is built again. */
function* shownByKind(
  offers: readonly Offer[],
  rules: SellingRules,
  lastReworded?: Catalog['reworded'],
) {
  const reworded = new Map<Offer, Offer>()
  const offersOf = byKind((): Offer[] => [])
  const sizes: Record<ListName, number> = {}
  yield* eachOf(offers, (offer) => {
    const next = rules.reworded(offer)
    const before = lastReworded?.get(offer)
    const shown = before !== undefined && isDeepStrictEqual(before, next) ? before : next
    if (shown !== offer) reworded.set(offer, shown)
    offersOf[offer.kind].push(shown)
    const list = listOf(offer)
    sizes[list] = (sizes[list] ?? 0) + 1
  })
  return { reworded, offersOf, sizes }
}

function shownOf(ids: Ids, reworded: Catalog['reworded'], rules: SellingRules): Ids {
  const shown = (offer: Offer | undefined) =>
    offer === undefined || rules.hides(offer) ? undefined : (reworded.get(offer) ?? offer)
  return { find: (id) => shown(ids.find(id)), findLike: (id) => shown(ids.findLike(id)) }
}

function* areSame(last: readonly Offer[] | undefined, offers: readonly Offer[]): Sliced<boolean> {
  const lastOffers = new Set(last)
  let same = 0
  yield* eachOf(offers, (offer) => {
    if (lastOffers.has(offer)) same += 1
  })
  return same === offers.length && same === lastOffers.size
}

function lowestIn(sold: Catalog['sold'], pricing: Pricing): Partial<Record<Kind, Usdc>> {
  const charges = kinds.flatMap((kind) => {
    const [cheapest] = sold[kind].search({}, { offset: 0, limit: 1 }, 'price').offers
    return cheapest === undefined ? [] : [[kind, lowestCharge(cheapest, pricing)] as const]
  })
  return Object.fromEntries(charges)
}

const maxFeatured = 12
const fewOfOneRule = { offset: 0, limit: 4 }

/** What the operator features: the newest rule first, an offer itself, or the first few of a brand that are sold. */
export function featuredIn({ ids, sold }: Catalog, { featured }: SellingRules): readonly Offer[] {
  const offers = featured.flatMap(({ scope: { type, key } }) =>
    type === 'offer'
      ? (ids.find(key) ?? [])
      : kinds.flatMap((kind) => sold[kind].search({ brandKeys: [key] }, fewOfOneRule).offers),
  )
  return [...new Set(offers)].slice(0, maxFeatured)
}

function* idsOf(offers: readonly Offer[]): Sliced<Ids> {
  const byId = new Map<string, Offer>()
  const alike = new Map<string, Offer>()
  yield* eachOf(offers, (offer) => {
    byId.set(offer.id, offer)
    for (const form of formsOf(offer.id)) {
      if (form !== offer.id && !alike.has(form)) alike.set(form, offer)
    }
  })
  const findForm = (form: string) => byId.get(form) ?? alike.get(form)
  return {
    find: (id: string) => byId.get(id),
    findLike(id: string) {
      const [inCapitals, alike] = formsOf(id)
      return findForm(inCapitals) ?? findForm(alike)
    },
  }
}

function formsOf(id: string): readonly [inCapitals: string, alike: string] {
  const inCapitals = id.toUpperCase()
  return [inCapitals, inCapitals.replace(/[- ]/g, '_')]
}

/** Prepares the names of brands, so that the first question need not wait for them. */
function* prepareQuestions(indexes: Catalog['sold']): Sliced<void> {
  for (const index of Object.values(indexes)) {
    yield
    brandLexicon(index)
  }
}

/** @throws Refusal `offer_not_found`, with the id that was probably meant */
export function findOffer(
  catalog: Pick<Catalog, 'ids' | 'sold'>,
  kind: Kind | undefined,
  id: string,
  parameter: string,
): Offer {
  const { ids } = catalog
  const like = ids.find(id) ?? ids.findLike(id.trim())
  if (like !== undefined && idInCapitals(like.id) === idInCapitals(id.trim())) {
    if (kind === undefined || like.kind === kind) return like
    const message = `Offer ${like.id} is ${oneOf(like.kind)}, not ${oneOf(kind)}. Ask for it among the ${goods[like.kind].plural}.`
    throw new Refusal('offer_not_found', message, { parameter })
  }
  const meant = like?.id ?? offerMeantBy(catalog, id)
  const hint = meant === undefined ? 'Find one with a search.' : `Did you mean ${meant}?`
  const message = `There is no offer with the id ${echoOf(id)}. ${hint}`
  const extra = meant === undefined ? {} : { extra: { didYouMean: meant } }
  throw new Refusal('offer_not_found', message, { parameter, ...extra })
}

function oneOf(kind: Kind): string {
  const { article, noun } = goods[kind].words
  return `${article} ${noun}`
}

const maxCompared = 200
const maxId = 100

/** One word may be misspelled, but no number or country code: a card of another value is another card. */
export function offerMeantBy({ sold }: Pick<Catalog, 'sold'>, text: string): string | undefined {
  const textParts = partsOf(text)
  if (textParts.length < 2 || text.length > maxId) return undefined
  const ids = kinds.flatMap((kind) => candidatesIn(sold[kind], textParts).map(({ id }) => id))
  const meant = ids.filter((id) => hasAll(partsOf(id), textParts))
  return meant.length === 1 ? meant[0] : undefined
}

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

function hasAll(parts: readonly string[], required: readonly string[]): boolean {
  const missing = required.filter((part) => !parts.includes(part))
  const [only = ''] = missing
  if (missing.length === 0) return true
  return (
    missing.length === 1 && /^[A-Z]{4,}$/.test(only) && parts.some((part) => isTypoOf(only, part))
  )
}
