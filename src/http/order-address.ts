/** How often an agent should ask for an order; seconds (service.md, Limits). */
export const retryAfterSeconds = 5

/** Where an order is read. */
export function orderPath(orderId: string): string {
  return `/api/catalog/orders/${orderId}`
}

/** Where the signed receipt of an order is read. */
export function receiptPath(orderId: string): string {
  return `${orderPath(orderId)}/receipt`
}
