import type { Basis } from '../../catalog/building/build-catalog.ts'
import type { OfferRecords } from '../../catalog/offer-records.ts'
import type { Joining, ReadListing } from '../../catalog/ports.ts'
import type { SupplierAccess } from '../../suppliers/supplier.ts'
import type { SupplierName } from '../../suppliers/suppliers.ts'

/** What one process is started for. */
export type CatalogJob =
  | {
      readonly type: 'read'
      readonly supplier: SupplierName
      readonly access: SupplierAccess
      /** What the last process that read the list wants the next one to know; nobody else reads it. */
      readonly note: Uint8Array | undefined
    }
  | ({ readonly type: 'join' } & Joining)
  | {
      readonly type: 'build'
      readonly offers: OfferRecords
      readonly basis: Basis
      readonly siteUrl: string
    }

/** What a process is sent: its work, and the variables that it does not start with. */
export interface SentJob {
  readonly job: CatalogJob
  /** Whether it runs at a lower priority, because the store answers from a catalog meanwhile. */
  readonly givesWay: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What a list was read into. */
export interface ReadList extends ReadListing {
  readonly note: Uint8Array
}

/** What a process answers with. */
export type JobResult = { readonly done: unknown } | { readonly error: unknown }
