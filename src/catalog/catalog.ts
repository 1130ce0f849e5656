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

/** One immutable state of everything on sale. A refresh makes a new one and swaps it in whole. */
export interface Catalog extends Pick<Snapshot, 'readAt' | 'held' | 'rejected'> {
  /** Changes when, and only when, an offer, its price, their order or what of them is sold changes. */
  readonly version: string
  /** How many offers the supplier lists. */
  readonly size: number
  readonly records: OfferRecords
  /** How many offers each list has. */
  readonly sizes: PackedCatalog['sizes']
  /** Any offer that the supplier lists, sold or not. */
  readonly find: (id: string) => Offer | undefined
  /** The offer that was probably meant by an id that none has: sooner one that differs in case alone. */
  readonly findLike: (id: string) => Offer | undefined
  /** How all offers of a kind are found, in their published order. */
  readonly listed: Readonly<Record<Kind, SearchIndex>>
  /** Likewise those of them that are sold. */
  readonly sold: Readonly<Record<Kind, SoldIndex>>
  /** The exchange rates that it was made with. */
  readonly rates: RateTable | undefined
  /** What of it was too old to sell by when it was made: kinds, and the rates (`staleParts`). */
  readonly stale: string
  /** The least that a purchase of a kind cost when the catalog was made; absent where none is sold. */
  readonly lowest: Readonly<Partial<Record<Kind, Usdc>>>
  /** Gives back the memory of the finished JSON. Nothing may be searched in it afterwards. */
  readonly retire: () => void
}

/** Holds the catalog of now. Readers take `current()` once per request and keep to it. */
export interface LiveCatalog {
  current(): Catalog
  replace(catalog: Catalog): void
}

/** What is on sale in numbers, for whoever started the store. */
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

/** The least that a purchase of any kind cost when the catalog was made; undefined where none is sold. */
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

/** Makes a packed catalog ready to answer. It takes over the arrays, and copies none. */
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
