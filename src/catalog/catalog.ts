import type { OfferId } from '../lib/ids.ts'
import { leastOf, type Usdc } from '../lib/money.ts'
import { type PackedCatalog, packCatalog } from './building/build-catalog.ts'
import { byKind, kinds } from './good.ts'
import type { Kind, Offer } from './offer.ts'
import { isLikeId, type OfferIds, rowsOf } from './offer-ids.ts'
import { type OfferRecords, offerAt, packOffers } from './offer-records.ts'
import type { RateTable, Snapshot } from './ports.ts'
import { prepareQuestions } from './question/find.ts'
import { letGo } from './ready-json.ts'
import {
  openIndex,
  openSoldIndex,
  type SearchIndex,
  type SoldIndex,
} from './search/search-index.ts'

/** An immutable state of everything on sale. A refresh builds a new one and swaps it in as a whole. */
export interface Catalog extends Pick<Snapshot, 'readAt' | 'held' | 'rejected'> {
  /** Changes if, and only if, an offer, its price, the order or the set of sold offers changes. */
  readonly version: string
  /** How many offers the supplier lists. */
  readonly size: number
  readonly records: OfferRecords
  /** How many offers each list has. */
  readonly sizes: PackedCatalog['sizes']
  /** Any offer that the supplier lists, sold or not. */
  readonly find: (id: string) => Offer | undefined
  /** The offer that was probably meant by an id that none has. One that differs only in case comes first. */
  readonly findLike: (id: string) => Offer | undefined
  /** Finds all listed offers of a kind, in their published order. */
  readonly listed: Readonly<Record<Kind, SearchIndex>>
  /** Finds those of them that are sold. */
  readonly sold: Readonly<Record<Kind, SoldIndex>>
  /** The exchange rates that it was built with. */
  readonly rates: RateTable | undefined
  /** The lists and rates that were too old to sell by when it was built (`staleParts`). */
  readonly stale: string
  /** The lowest price of each kind when the catalog was built; absent if none of it was sold. */
  readonly lowest: Readonly<Partial<Record<Kind, Usdc>>>
  /** Frees the memory of the finished JSON. The catalog must not be searched afterwards. */
  readonly retire: () => void
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
  const { size, rejected, readAt } = liveCatalog.current()
  const aside = Object.values(rejected).reduce((sum, count) => sum + count, 0)
  return { offers: size, rejected: aside, readAt }
}

/** The lowest price of any offer when the catalog was built; undefined if none was sold. */
export function cheapestOf({ lowest }: Pick<Catalog, 'lowest'>): Usdc | undefined {
  return leastOf(Object.values(lowest))
}

/** Holds `initial`, or a catalog without offers until the first `replace`. */
export function createLiveCatalog(initial?: Catalog): LiveCatalog {
  let catalog = initial ?? emptyCatalog()
  return {
    current: () => catalog,
    replace: (next) => {
      catalog = next
    },
  }
}

/** Makes a packed catalog ready to answer. It uses the arrays as they are, without copying. */
export function openCatalog(
  { version, sizes, ids, ready, listed, sold, lowest, rates, stale }: PackedCatalog,
  { offers: records, readAt, held = {}, rejected }: Snapshot,
): Catalog {
  const onSale = byKind((kind) => openSoldIndex(sold[kind], ready, records))
  const opened = byKind((kind) =>
    listed[kind] === sold[kind] ? onSale[kind] : openIndex(listed[kind], ready, records),
  )
  prepareQuestions(onSale)
  return {
    version,
    readAt,
    held,
    rejected,
    size: kinds.reduce((sum, kind) => sum + opened[kind].size, 0),
    records,
    sizes,
    find: (id) => findOffer(ids, records, id, (one) => one === id),
    findLike: (id) =>
      findOffer(ids, records, id, (one) => one.toUpperCase() === id.toUpperCase()) ??
      findOffer(ids, records, id, (one) => isLikeId(one, id)),
    listed: opened,
    sold: onSale,
    lowest,
    rates,
    stale,
    retire: () => letGo(ready),
  }
}

function findOffer(
  ids: OfferIds,
  records: OfferRecords,
  id: string,
  isIt: (id: OfferId) => boolean,
): Offer | undefined {
  for (const row of rowsOf(ids, id)) {
    const offer = offerAt(records, row)
    if (isIt(offer.id)) return offer
  }
  return undefined
}

function emptyCatalog(): Catalog {
  const epoch = new Date(0)
  const basis = { markupBps: 0, rates: undefined, times: { readAt: epoch }, now: epoch }
  const publish = () => ({ discovery: {}, beyond: {} })
  const snapshot = { offers: packOffers([]), readAt: epoch, rejected: {} }
  return openCatalog(packCatalog([], basis, publish), snapshot)
}
