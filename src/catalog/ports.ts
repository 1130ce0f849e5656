import type { ListName, Offer } from './offer.ts'

/** The offers of all suppliers, or of one, as they were read. */
export interface Listing {
  readonly offers: readonly Offer[]
  /** Flawed offers that must not be sold, counted by reason. They never fail a load. */
  readonly rejected: Readonly<Record<string, number>>
}

/** Where offers come from. */
export interface OfferSource {
  /**
   * Reads the whole list, page by page. Throws if any part is missing.
   *
   * @param keep gives the object to keep for an offer that was read, such as an equal one that is there already
   */
  list(signal: AbortSignal, keep?: (offer: Offer) => Offer): Promise<Listing>
}

/** When lists were read from their suppliers. */
export interface ReadTimes {
  readonly readAt: Date
  /** The lists whose earlier reading still counts, and when they were read. */
  readonly held?: Readonly<Record<ListName, Date>>
}

/** All lists as they are on sale, and stored so that a restart serves at once. */
export interface Snapshot extends Listing, ReadTimes {}

/** When the offers of a list were read from their supplier. */
export function readAtOf({ held, readAt }: ReadTimes, list: ListName): Date {
  return held?.[list] ?? readAt
}

export interface SnapshotStore {
  save(snapshot: Snapshot): Promise<void>
  /**
   * The last snapshot, or undefined on a first start.
   *
   * @param keep as for `OfferSource.list`
   */
  load(keep?: (offer: Offer) => Offer): Promise<Snapshot | undefined>
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
