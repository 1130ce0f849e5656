import { limitOperations } from './buying/limits-operations.ts'
import { orderOperations, purchases, quotes } from './buying/operations.ts'
import { catalogReadings } from './catalog/browse.ts'
import { offerReadings } from './catalog/offer.ts'
import { capabilities } from './discovery/capabilities.ts'
import { searches } from './discovery/search.ts'
import { searchAll } from './discovery/search-all.ts'
import { serviceIndex } from './discovery/service-index.ts'
import type { Operation, Reading } from './operation.ts'
import { keySets, live, manifests, ready } from './store-operations.ts'

/** The discovery interface: its index, what it can do, and a search for each kind. */
export const discoveryReadings: readonly Reading[] = [
  serviceIndex,
  capabilities,
  searchAll,
  ...Object.values(searches),
]

/** Everything that may be asked of the store. */
export const operations: readonly Operation[] = [
  ...discoveryReadings,
  ...catalogReadings,
  ...offerReadings,
  ...quotes,
  ...purchases,
  ...orderOperations,
  ...limitOperations,
  ...manifests,
  ...keySets,
  live,
  ready,
]
