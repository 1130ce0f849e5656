import type { Catalog } from './catalog/catalog.ts'
import type { Faults } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { PurchaseDeps } from './purchases.ts'

/** The dependencies of the routes. */
export interface Deps extends PurchaseDeps {
  readonly apiKey: string
  readonly catalog: Catalog
  readonly faults: Faults
  readonly ledger: Ledger
}
