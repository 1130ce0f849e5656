import type { Basis } from '../../catalog/building/build-catalog.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { OfferRecords } from '../../catalog/offer-records.ts'
import type { ReadListing } from '../../catalog/ports.ts'

/** What one thread is started for. */
export type CatalogJob =
  | {
      readonly type: 'read'
      readonly supplier: SupplierAccess
      /** What the last thread that read the list wants the next one to know; nobody else reads it. */
      readonly note: Uint8Array | undefined
    }
  | {
      readonly type: 'hold'
      readonly list: OfferRecords
      readonly last: OfferRecords
      readonly kinds: readonly Kind[]
    }
  | {
      readonly type: 'build'
      readonly offers: OfferRecords
      readonly basis: Basis
      readonly siteUrl: string
    }

/** What a list was read into. */
export interface ReadList extends ReadListing {
  readonly note: Uint8Array
}

/** A list of which some kinds are those of an earlier one. */
export interface HeldList {
  readonly offers: OfferRecords
}

/** Where a supplier's list is read; a key that is refused or absent makes the reading fail. */
export interface SupplierAccess {
  readonly baseUrl: string
  readonly apiKey: string
  readonly timeoutMs: number
}
