/** Where the payment of a checkout is shown. */
export function payPath(id: string): string {
  return `/pay/${id}`
}

/** Where an order is shown. */
export function orderPagePath(id: string): string {
  return `/orders/${id}`
}
