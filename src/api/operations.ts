import { limitOperations } from './buying/limits-operations.ts'
import { orderOperations, purchases, quotes } from './buying/operations.ts'
import { topupCountries, voucherCountries } from './catalog/countries.ts'
import { browseEsims } from './catalog/esims.ts'
import { offerReadings } from './catalog/offer.ts'
import { browseTopups, topupRegionList } from './catalog/topups.ts'
import { browseVouchers, voucherBrands, voucherFilters } from './catalog/vouchers.ts'
import { capabilities } from './discovery/capabilities.ts'
import { searchEsims } from './discovery/esims.ts'
import { serviceIndex } from './discovery/service-index.ts'
import { searchTopups } from './discovery/topups.ts'
import { searchVouchers } from './discovery/vouchers.ts'
import type { Operation, Reading } from './operation.ts'
import { keySets, live, manifests, ready } from './store-operations.ts'

/** The discovery interface: its index, what it can do, and a search for each kind. */
export const discoveryReadings: readonly Reading[] = [
  serviceIndex,
  capabilities,
  searchVouchers,
  searchTopups,
  searchEsims,
]

/** What the catalog interface lists. */
export const catalogReadings: readonly Reading[] = [
  browseVouchers,
  voucherBrands,
  voucherCountries,
  voucherFilters,
  browseTopups,
  topupCountries,
  topupRegionList,
  browseEsims,
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
