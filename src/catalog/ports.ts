import type { Basis } from './building/build-catalog.ts'
import type { Catalog } from './catalog.ts'
import type { Kind, ListName } from './offer.ts'
import type { OfferRecords } from './offer-records.ts'

/** The offers of all suppliers, or of one, as they were read. */
export interface Listing {
  readonly offers: OfferRecords
  /** Dirty offers, counted by reason, that must not be sold. They never fail a load. */
  readonly rejected: Readonly<Record<string, number>>
}

/** The list of one supplier as it was just read, with how many offers of each kind can be sold. */
export interface ReadListing extends Listing {
  readonly sizes: Readonly<Record<Kind, number>>
}

/** Where offers come from. */
export interface OfferSource {
  /** Reads the whole list, page by page. Throws when any part is missing: half a list is none. */
  list(signal: AbortSignal): Promise<ReadListing>
}

/** When lists were read from their suppliers. */
export interface ReadTimes {
  readonly readAt: Date
  /** Lists of which an earlier reading still counts, and when that was. */
  readonly held?: Readonly<Record<ListName, Date>>
}

/** All lists as they are passed on and kept, so that a restart serves at once. */
export interface Snapshot extends Listing, ReadTimes {}

/** When the offers of a list were read from their supplier. */
export function readAtOf({ held, readAt }: ReadTimes, list: ListName): Date {
  return held?.[list] ?? readAt
}

/** What is taken of new and earlier lists to make one. */
export interface Joining {
  /** The lists of suppliers as they were just read, the preferred one first. */
  readonly read: readonly OfferRecords[]
  readonly earlier: OfferRecords
  /** The lists that are taken of the earlier ones instead. */
  readonly held: readonly ListName[]
}

export interface Joined {
  readonly offers: OfferRecords
  /** Offers that a preferred supplier lists under the same id. */
  readonly duplicates: number
}

/**
 * Where lists are read and catalogs are made: away from the process that answers, which would stand
 * still for seconds over a large list.
 */
export interface CatalogWorker {
  /** Those that the store buys from, the preferred one first. */
  readonly suppliers: readonly string[]
  /** Reads the whole list of a supplier. Throws when any part is missing: half a list is none. */
  read(supplier: string, signal: AbortSignal): Promise<ReadListing>
  join(joining: Joining, signal: AbortSignal): Promise<Joined>
  build(snapshot: Snapshot, basis: Basis, signal: AbortSignal): Promise<Catalog>
}

export interface SnapshotStore {
  save(snapshot: Snapshot): Promise<void>
  /** The newest snapshot, or undefined on a first start. */
  load(): Promise<Snapshot | undefined>
}

/** What one US dollar buys, on one day, by somebody's word. */
export interface RateTable {
  readonly asOf: Date
  /** Who says so, as an operator would recognise it. */
  readonly source: string
  /** Units of the currency for one USD: EUR 0.92. */
  readonly perUsd: Readonly<Record<string, number>>
}

export interface RateSource {
  latest(signal: AbortSignal): Promise<RateTable>
}
