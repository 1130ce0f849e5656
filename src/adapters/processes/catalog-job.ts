import type { Basis } from '../../catalog/building/build-catalog.ts'
import type { OfferRecords } from '../../catalog/offer-records.ts'
import type { Joining, ReadListing } from '../../catalog/ports.ts'
import type { SupplierAccess } from '../../suppliers/supplier.ts'
import type { SupplierName } from '../../suppliers/suppliers.ts'

/** The job of one process. */
export type CatalogJob =
  | {
      readonly type: 'read'
      readonly supplier: SupplierName
      readonly access: SupplierAccess
      /** From the last process that read the list, for the next one. Opaque to the store. */
      readonly note: Uint8Array | undefined
    }
  | ({ readonly type: 'join' } & Joining)
  | {
      readonly type: 'build'
      readonly offers: OfferRecords
      readonly basis: Basis
      readonly siteUrl: string
    }

/** The message to a process: its job, and the variables that it was not started with. */
export interface SentJob {
  readonly job: CatalogJob
  /** Whether it runs at a lower priority, because the store already answers from a catalog. */
  readonly givesWay: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** A list that was read, with a note for the next reading. */
export interface ReadList extends ReadListing {
  readonly note: Uint8Array
}

/** The answer of a process. */
export type JobResult = { readonly done: unknown } | { readonly error: unknown }
