import type { Basis } from './building/build-catalog.ts'
import type { Catalog } from './catalog.ts'
import type { Kind, ListName } from './offer.ts'
import type { OfferRecords } from './offer-records.ts'

/** The offers of all suppliers, or of one, as they were read. */
export interface Listing {
  readonly offers: OfferRecords
  /** Flawed offers that must not be sold, counted by reason. They never fail a load. */
  readonly rejected: Readonly<Record<string, number>>
}

/** The list of one supplier as it was just read, with how many offers of each kind can be sold. */
export interface ReadListing extends Listing {
  readonly sizes: Readonly<Record<Kind, number>>
}

/** Where offers come from. */
export interface OfferSource {
  /** Reads the whole list, page by page. Throws if any part is missing. */
  list(signal: AbortSignal): Promise<ReadListing>
}

/** When lists were read from their suppliers. */
export interface ReadTimes {
  readonly readAt: Date
  /** The lists whose earlier reading still counts, and when they were read. */
  readonly held?: Readonly<Record<ListName, Date>>
}

/** All lists as they are passed on, and stored so that a restart serves at once. */
export interface Snapshot extends Listing, ReadTimes {}

/** When the offers of a list were read from their supplier. */
export function readAtOf({ held, readAt }: ReadTimes, list: ListName): Date {
  return held?.[list] ?? readAt
}

/** Which lists are joined into one, from new and earlier ones. */
export interface Joining {
  /** The lists of suppliers as they were just read, the preferred one first. */
  readonly read: readonly OfferRecords[]
  readonly earlier: OfferRecords
  /** The lists that are taken from `earlier` instead. */
  readonly held: readonly ListName[]
}

export interface Joined {
  readonly offers: OfferRecords
  /** How many offers were left out because a list before theirs has the same id. */
  readonly duplicates: number
}

/**
 * Reads lists and builds catalogs outside the process that answers, which a large list would block for seconds.
 */
export interface CatalogWorker {
  /** The suppliers that the store buys from, the preferred one first. */
  readonly suppliers: readonly string[]
  /** Reads the whole list of a supplier. Throws if any part is missing. */
  read(supplier: string, signal: AbortSignal): Promise<ReadListing>
  join(joining: Joining, signal: AbortSignal): Promise<Joined>
  build(snapshot: Snapshot, basis: Basis, signal: AbortSignal): Promise<Catalog>
}

export interface SnapshotStore {
  save(snapshot: Snapshot): Promise<void>
  /** The newest snapshot, or undefined on a first start. */
  load(): Promise<Snapshot | undefined>
}

/** The exchange rates of one day, according to one source. */
export interface RateTable {
  readonly asOf: Date
  /** The publisher of the rates, by a name that operators recognise. */
  readonly source: string
  /** Units of the currency for one USD: EUR 0.92. */
  readonly perUsd: Readonly<Record<string, number>>
}

export interface RateSource {
  latest(signal: AbortSignal): Promise<RateTable>
}
