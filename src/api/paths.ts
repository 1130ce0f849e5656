import type { Kind } from '../catalog/offer.ts'

/** What every path of the catalog interface begins with. */
export const catalogPrefix = '/api/catalog'

/** Where the manifest is looked for first. */
export const manifestPath = '/.well-known/x402'

/** Where the OpenAPI document is. */
export const openApiPath = '/openapi.json'

/** Where the MCP server is. */
export const mcpPath = '/mcp'

/** Where the record of one offer is read, which names the call that buys it. */
export function offerPath(kind: Kind, offerId: string): string {
  return `${catalogPrefix}/${kind}s/offers/${offerId}`
}

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
