import { goods } from '../catalog/good.ts'
import type { Kind } from '../catalog/offer.ts'

/** What every path of the catalog interface begins with. */
export const catalogPrefix = '/api/catalog'

/** Where the manifest is looked for first. */
export const manifestPath = '/.well-known/x402'

/** Where the OpenAPI document is. */
export const openApiPath = '/openapi.json'

/** Where the MCP server is. */
export const mcpPath = '/mcp'

/** The discovery interface: its index, and where a kind is searched. */
export const discoveryPrefix = '/ai'

/** Where all kinds are searched by one question. */
export const searchPath = `${discoveryPrefix}/search`

export function discoveryPath(kind: Kind): string {
  return `${discoveryPrefix}/${goods[kind].plural}`
}

/** What the paths of a kind begin with in the catalog interface. */
export function catalogPath(kind: Kind): string {
  return `${catalogPrefix}/${goods[kind].plural}`
}

/** A name with a capital, as ids of operations and names of shapes have it. */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** Where the record of one offer is read, which names the call that buys it. */
export function offerPath(kind: Kind, offerId: string): string {
  return `${catalogPath(kind)}/offers/${offerId}`
}

/** Where an order is read. */
export function orderPath(orderId: string): string {
  return `${catalogPrefix}/orders/${orderId}`
}

/** Where the signed receipt of an order is read. */
export function receiptPath(orderId: string): string {
  return `${orderPath(orderId)}/receipt`
}

/** Where the buyer of an order reads what became of its events. */
export function webhookPath(orderId: string): string {
  return `${orderPath(orderId)}/webhook`
}

/** Where the buyer of an order has its events sent again. */
export function redeliverPath(orderId: string): string {
  return `${webhookPath(orderId)}/redeliver`
}

/** Where a wallet reads and sets its own limits. */
export const limitsPath = `${catalogPrefix}/limits`

/** Where the refund of an order is claimed and watched. */
export function refundPath(orderId: string): string {
  return `${orderPath(orderId)}/refund`
}

/** The page where a person sees and buys an offer. */
export function buyPath(offerId: string): string {
  return `/buy/${encodeURIComponent(offerId)}`
}

/** Where goods of a kind are quoted (GET) and bought (POST). */
export function purchasePath(kind: Kind): string {
  return `${catalogPath(kind)}/purchase/info`
}
