import { purchases } from './buying/purchase.ts'
import { quotes } from './buying/quote.ts'
import { catalogReadings } from './catalog/browse.ts'
import { offerReadings } from './catalog/offer.ts'
import { capabilities } from './discovery/capabilities.ts'
import { searches } from './discovery/search.ts'
import { searchAll } from './discovery/search-all.ts'
import { serviceIndex } from './discovery/service-index.ts'
import type { Operation, OrderOperation, Reading, StoreOperation } from './operation.ts'
import { findOrders, getOrder, listEsimOrders } from './orders/find-orders.ts'
import { limitOperations } from './orders/limits.ts'
import { getReceipt } from './orders/receipt.ts'
import { claimRefund, getRefund } from './orders/refund.ts'
import { getWebhook, redeliverWebhook } from './orders/webhook.ts'
import { live, ready } from './store/health.ts'
import { keySets } from './store/keys.ts'
import { manifests } from './store/manifest.ts'

/** What anyone may read for free. */
export const readings: readonly Reading[] = [
  serviceIndex,
  capabilities,
  searchAll,
  ...Object.values(searches),
  ...catalogReadings,
  ...offerReadings,
]

/** What is asked about orders and wallets, in the order in which the manifest lists it. */
const orderOperations: readonly OrderOperation[] = [
  listEsimOrders,
  findOrders,
  getOrder,
  getReceipt,
  claimRefund,
  getRefund,
  getWebhook,
  redeliverWebhook,
  ...limitOperations,
]

/** Everything that is answered without a payment, from the same parts that purchases need. */
export const unpaidOperations: readonly OrderOperation[] = [...quotes, ...orderOperations]

/** What is asked about the store itself. */
export const storeOperations: readonly StoreOperation[] = [...manifests, ...keySets, live, ready]

/** Everything that may be asked of the store. */
export const operations: readonly Operation[] = [
  ...readings,
  ...quotes,
  ...purchases,
  ...orderOperations,
  ...storeOperations,
]
