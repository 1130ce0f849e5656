import type { ListName, Offer } from './offer.ts'

export interface Listing {
  readonly offers: readonly Offer[]
  /** Flawed offers that must not be sold, counted by reason. They never fail a load. */
  readonly rejected: Readonly<Record<string, number>>
}

export function joined(listings: readonly Listing[]): Listing {
  const rejected: Record<string, number> = {}
  for (const [reason, count] of listings.flatMap((one) => Object.entries(one.rejected))) {
    rejected[reason] = (rejected[reason] ?? 0) + count
  }
  return { offers: listings.flatMap(({ offers }) => offers), rejected }
}

export interface OfferSource {
  /**
   * Reads the whole list, page by page. Throws if any part is missing.
   *
   * @param keep gives the object to keep for an offer that was read, such as an equal one that is there already
   */
  list(signal: AbortSignal, keep?: (offer: Offer) => Offer): Promise<Listing>
}

export interface ReadTimes {
  readonly readAt: Date
  /** The lists whose earlier reading still counts, and when they were read. */
  readonly held?: Readonly<Record<ListName, Date>>
}

/** As it is on sale, and stored so that a restart serves at once. */
export interface Snapshot extends Listing, ReadTimes {}

export function readAtOf({ held, readAt }: ReadTimes, list: ListName): Date {
  return held?.[list] ?? readAt
}

export interface SnapshotStore {
  save(snapshot: Snapshot): Promise<void>
  /** Undefined on a first start. `keep` as for `OfferSource.list`. */
  load(keep?: (offer: Offer) => Offer): Promise<Snapshot | undefined>
}

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
