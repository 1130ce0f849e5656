import type { Kind } from '../goods/offer.ts'

/** Where the catalog interface lives (service.md). */
export const catalogPrefix = '/api/catalog'

/** Where an order is read. */
export function orderPath(orderId: string): string {
  return `${catalogPrefix}/orders/${orderId}`
}

/** Where the signed receipt of an order is read. */
export function receiptPath(orderId: string): string {
  return `${orderPath(orderId)}/receipt`
}

/** Where a wallet reads and sets its own limits. */
export const limitsPath = `${catalogPrefix}/limits`

/** Where the refund of an order is claimed and watched. */
export function refundPath(orderId: string): string {
  return `${orderPath(orderId)}/refund`
}

/** Where goods of a kind are quoted (GET) and bought (POST). */
export function purchasePath(kind: Kind): string {
  return `${catalogPrefix}/${kind}s/purchase/info`
}
