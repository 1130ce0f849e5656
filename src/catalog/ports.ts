import type { Basis } from './building/build-catalog.ts'
import type { Catalog } from './catalog.ts'
import type { Kind } from './offer.ts'
import type { OfferRecords } from './offer-records.ts'

/** Everything that a supplier lists, read in one go. */
export interface Listing {
  readonly offers: OfferRecords
  /** Dirty offers, counted by reason, that must not be sold. They never fail a load. */
  readonly rejected: Readonly<Record<string, number>>
}

/** A list as it was just read, with how many offers of each kind can be sold. */
export interface ReadListing extends Listing {
  readonly sizes: Readonly<Record<Kind, number>>
}

/** Where offers come from. */
export interface OfferSource {
  /** Reads the whole list, page by page. Throws when any part is missing: half a list is none. */
  list(signal: AbortSignal): Promise<ReadListing>
}

/** A list as it is passed on and kept, so that a restart serves at once. */
export interface Snapshot extends Listing {
  /** When the list was read from the supplier. */
  readonly readAt: Date
  /** Kinds whose offers are still those of an earlier list, and when that was read. */
  readonly held?: Readonly<Partial<Record<Kind, Date>>>
}

/** When the offers of a kind were read from the supplier. */
export function readAtOf({ held, readAt }: Pick<Snapshot, 'held' | 'readAt'>, kind: Kind): Date {
  return held?.[kind] ?? readAt
}

/**
 * Where lists are read and catalogs are made: away from the thread that answers, which would stand
 * still for seconds over a large list.
 */
export interface CatalogWorker {
  /** Reads the supplier's whole list. Throws when any part is missing: half a list is none. */
  read(signal: AbortSignal): Promise<ReadListing>
  /** The offers of a new list, but those of some kinds as an earlier list has them. */
  hold(
    list: OfferRecords,
    last: OfferRecords,
    kinds: readonly Kind[],
    signal: AbortSignal,
  ): Promise<OfferRecords>
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
