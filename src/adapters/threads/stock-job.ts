import type { Basis } from '../../goods/building/build-catalog.ts'
import type { OfferRecords } from '../../goods/offer-records.ts'
import type { Listing } from '../../goods/ports.ts'

/** What one thread is started for. */
export type StockJob =
  | {
      readonly type: 'read'
      readonly supplier: SupplierAccess
      /** What the last thread that read the list wants the next one to know; nobody else reads it. */
      readonly note: Uint8Array | undefined
    }
  | {
      readonly type: 'build'
      readonly offers: OfferRecords
      readonly basis: Basis
      readonly siteUrl: string
    }

/** What a list was read into. */
export interface ReadList extends Listing {
  readonly note: Uint8Array
}

/** Where a supplier's list is read; a key that is refused or absent makes the reading fail. */
export interface SupplierAccess {
  readonly baseUrl: string
  readonly apiKey: string
  readonly timeoutMs: number
}
