import { leastOf, type Usdc } from '../lib/money.ts'
import { atOnce, eachOf, type Sliced } from '../lib/scheduling.ts'
import { byKind, kinds } from './good.ts'
import { type Kind, type ListName, listOf, type Offer } from './offer.ts'
import { type RateTable, readAtOf, type Snapshot } from './ports.ts'
import { lowestCharge, type Pricing } from './pricing.ts'
import { vocabulary } from './question/vocabulary.ts'
import { brandLexicon } from './search/brand-lexicon.ts'
import { buildIndex, type KindIndex, type SearchIndex } from './search/search-index.ts'
import { staleParts } from './staleness.ts'

/** An immutable state of everything on sale. A refresh builds a new one and swaps it in as a whole. */
export interface Catalog extends Snapshot {
  /** How many offers each list has. */
  readonly sizes: Readonly<Record<ListName, number>>
  readonly ids: {
    readonly find: (id: string) => Offer | undefined
    /**
     * The offer that was probably meant by an id that none has: one that differs only in case, or else also in the
     * signs between words, which models change when they copy an id.
     */
    readonly findLike: (id: string) => Offer | undefined
  }
  readonly kinds: Readonly<Record<Kind, KindIndex>>
  /** Finds all listed offers of a kind, in their published order. */
  readonly listed: Readonly<Record<Kind, SearchIndex>>
  /** Finds those of them that are sold. */
  readonly sold: Readonly<Record<Kind, SearchIndex>>
  /** The exchange rates that it was built with. */
  readonly rates: RateTable | undefined
  /** The lists and rates that were too old to sell by when it was built (`staleParts`). */
  readonly stale: string
  /** The lowest price of each kind when it was built; absent if none of it was sold. */
  readonly lowest: Readonly<Partial<Record<Kind, Usdc>>>
}

/** What a catalog depends on besides its offers: for their order, their prices and which of them are sold. */
export type Basis = Pick<Catalog, 'rates'> & {
  readonly markupBps: number
  readonly now: Date
}

/** Holds the current catalog. Readers call `current()` once per request and keep that catalog. */
export interface LiveCatalog {
  current(): Catalog
  replace(catalog: Catalog): void
}

/** What is on sale in numbers, for the message that the store is ready. */
export interface CatalogSummary {
  readonly offers: number
  readonly rejected: number
  readonly readAt: Date
}

export function catalogSummaryOf(liveCatalog: Pick<LiveCatalog, 'current'>): CatalogSummary {
  const { offers, rejected, readAt } = liveCatalog.current()
  const aside = Object.values(rejected).reduce((sum, count) => sum + count, 0)
  return { offers: offers.length, rejected: aside, readAt }
}

/** The lowest price of any offer when the catalog was built; undefined if none was sold. */
export function cheapestOf({ lowest }: Pick<Catalog, 'lowest'>): Usdc | undefined {
  return leastOf(Object.values(lowest))
}

/** Holds `initial`, or a catalog without offers until the first `replace`. */
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
  const basis = { markupBps: 0, rates: undefined, now: epoch }
  return atOnce(buildCatalog({ offers: [], rejected: {}, readAt: epoch }, basis))
}

/** @param last the catalog before it: what both have in common is not built again */
export function* buildCatalog(
  snapshot: Snapshot,
  { markupBps, rates, now }: Basis,
  last?: Catalog,
): Sliced<Catalog> {
  const readAt = (list: ListName) => readAtOf(snapshot, list)
  const pricing: Pricing = { markupBps, rates: () => rates, readAt, now: () => now }
  const { offersOf, sizes } = yield* sortedByKind(snapshot.offers)
  const built: [Kind, KindIndex][] = []
  for (const kind of kinds) {
    const known = last && stockIn(last, kind, offersOf[kind])
    built.push([kind, yield* buildIndex(offersOf[kind], pricing, known)])
  }
  const indexes = Object.fromEntries(built) as Record<Kind, KindIndex>
  const sold = byKind((kind) => indexes[kind].sold)
  yield* prepareQuestions(sold)
  return {
    ...snapshot,
    sizes,
    ids: last?.offers === snapshot.offers ? last.ids : yield* idsOf(snapshot.offers),
    kinds: indexes,
    listed: byKind((kind) => indexes[kind].listed),
    sold,
    rates,
    stale: staleParts(pricing, sizes),
    lowest: lowestIn(sold, pricing),
  }
}

function* sortedByKind(offers: readonly Offer[]) {
  const offersOf = byKind((): Offer[] => [])
  const sizes: Record<ListName, number> = {}
  yield* eachOf(offers, (offer) => {
    offersOf[offer.kind].push(offer)
    const list = listOf(offer)
    sizes[list] = (sizes[list] ?? 0) + 1
  })
  return { offersOf, sizes }
}

/** The stock of exactly these offers, if a catalog has it. */
function stockIn({ kinds: indexes, ids }: Catalog, kind: Kind, offers: readonly Offer[]) {
  const { stock } = indexes[kind]
  const isSame =
    stock.offers.length === offers.length && offers.every((offer) => ids.find(offer.id) === offer)
  return isSame ? stock : undefined
}

function lowestIn(sold: Catalog['sold'], pricing: Pricing): Partial<Record<Kind, Usdc>> {
  const found = kinds.flatMap((kind) => {
    const [cheapest] = sold[kind].search({}, { offset: 0, limit: 1 }, 'price').offers
    return cheapest === undefined ? [] : [[kind, lowestCharge(cheapest, pricing)] as const]
  })
  return Object.fromEntries(found)
}

/** Finds offers by their ids. */
function* idsOf(offers: readonly Offer[]): Sliced<Catalog['ids']> {
  const byId = new Map<string, Offer>()
  const alike = new Map<string, Offer>()
  yield* eachOf(offers, (offer) => {
    byId.set(offer.id, offer)
    for (const form of formsOf(offer.id)) {
      if (form !== offer.id && !alike.has(form)) alike.set(form, offer)
    }
  })
  const found = (form: string) => byId.get(form) ?? alike.get(form)
  return {
    find: (id: string) => byId.get(id),
    findLike(id: string) {
      const [inCapitals, alike] = formsOf(id)
      return found(inCapitals) ?? found(alike)
    },
  }
}

function formsOf(id: string): readonly [inCapitals: string, alike: string] {
  const inCapitals = id.toUpperCase()
  return [inCapitals, inCapitals.replace(/[- ]/g, '_')]
}

/** Prepares what takes time, so that the first question need not wait for it. */
function* prepareQuestions(indexes: Catalog['sold']): Sliced<void> {
  vocabulary()
  for (const index of Object.values(indexes)) {
    yield
    brandLexicon(index)
  }
}
