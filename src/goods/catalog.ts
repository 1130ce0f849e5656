import type { OfferId } from '../primitives/ids.ts'
import type { Offer } from './offer.ts'

/** One immutable state of everything on sale. A refresh makes a new one and swaps it in whole. */
export interface Catalog {
  /** Changes when, and only when, the content changes; used in ETags. */
  readonly version: string
  readonly readAt: Date
  readonly byId: ReadonlyMap<OfferId, Offer>
  readonly setAside: Readonly<Record<string, number>>
}

/** Holds the catalog of now. Readers take `current()` once per request and keep to it. */
export interface Shelf {
  current(): Catalog
  replace(catalog: Catalog): void
}
