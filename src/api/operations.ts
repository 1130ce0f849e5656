import { purchases, quotes } from './buying/purchase.ts'
import { catalogReadings, offerReadings } from './catalog/browse.ts'
import { searchAll, searches } from './discovery/search.ts'
import { capabilities, serviceIndex } from './discovery/service-index.ts'
import type { Operation, OrderOperation, Reading, StoreOperation } from './operation.ts'
import { findOrders, getOrder, listEsimOrders } from './orders/find-orders.ts'
import { limitOperations } from './orders/limits.ts'
import { getReceipt } from './orders/receipt.ts'
import { claimRefund, getRefund } from './orders/refund.ts'
import { getWebhook, redeliverWebhook } from './orders/webhook.ts'
import { keySets, live, manifests, ready } from './store.ts'

export const readings: readonly Reading[] = [
  serviceIndex,
  capabilities,
  searchAll,
  ...Object.values(searches),
  ...catalogReadings,
  ...offerReadings,
]

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

export const unpaidOperations: readonly OrderOperation[] = [...quotes, ...orderOperations]

export const storeOperations: readonly StoreOperation[] = [...manifests, ...keySets, live, ready]

export const operations: readonly Operation[] = [
  ...readings,
  ...quotes,
  ...purchases,
  ...orderOperations,
  ...storeOperations,
]
