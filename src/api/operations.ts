import { purchases } from './buying/purchase.ts'
import { quotes } from './buying/quote.ts'
import { catalogReadings } from './catalog/browse.ts'
import { offerReadings } from './catalog/offer.ts'
import { capabilities } from './discovery/capabilities.ts'
import { searches } from './discovery/search.ts'
import { searchAll } from './discovery/search-all.ts'
import { serviceIndex } from './discovery/service-index.ts'
import type { Operation, OrderOperation, Reading } from './operation.ts'
import { findOrders, getOrder, listEsimOrders } from './orders/find-orders.ts'
import { limitOperations } from './orders/limits.ts'
import { getReceipt } from './orders/receipt.ts'
import { claimRefund, getRefund } from './orders/refund.ts'
import { getWebhook, redeliverWebhook } from './orders/webhook.ts'
import { keySets, live, manifests, ready } from './store-operations.ts'

/** The discovery interface: its index, what it can do, and a search for each kind. */
export const discoveryReadings: readonly Reading[] = [
  serviceIndex,
  capabilities,
  searchAll,
  ...Object.values(searches),
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

/** Everything that may be asked of the store. */
export const operations: readonly Operation[] = [
  ...discoveryReadings,
  ...catalogReadings,
  ...offerReadings,
  ...quotes,
  ...purchases,
  ...orderOperations,
  ...manifests,
  ...keySets,
  live,
  ready,
]
