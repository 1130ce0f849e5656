import { goods } from '../catalog/kinds.ts'
import type { Kind } from '../catalog/offer.ts'

export const catalogPrefix = '/api/catalog'
/** The path at which clients look for the manifest first. */
export const manifestPath = '/.well-known/x402'

export const openApiPath = '/openapi.json'
export const mcpPath = '/mcp'

/** The index of the discovery interface, and the prefix of its paths. */
export const discoveryPrefix = '/ai'

export const searchPath = `${discoveryPrefix}/search`

export function discoveryPath(kind: Kind): string {
  return `${discoveryPrefix}/${goods[kind].plural}`
}

export function catalogPath(kind: Kind): string {
  return `${catalogPrefix}/${goods[kind].plural}`
}

/** A name with a capital letter, for ids of operations and names of shapes. */
export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** The record of one offer, which names the call that buys it. */
export function offerPath(kind: Kind, offerId: string): string {
  return `${catalogPath(kind)}/offers/${offerId}`
}

export function orderPath(orderId: string): string {
  return `${catalogPrefix}/orders/${orderId}`
}

export function receiptPath(orderId: string): string {
  return `${orderPath(orderId)}/receipt`
}

/** The buyer's webhook of an order, with the deliveries of its events. */
export function webhookPath(orderId: string): string {
  return `${orderPath(orderId)}/webhook`
}

export function redeliverPath(orderId: string): string {
  return `${webhookPath(orderId)}/redeliver`
}

export const limitsPath = `${catalogPrefix}/limits`

/** The refund of an order, to claim (POST) and to watch (GET). */
export function refundPath(orderId: string): string {
  return `${orderPath(orderId)}/refund`
}

export function buyPath(offerId: string): string {
  return `/buy/${encodeURIComponent(offerId)}`
}

/** The path that quotes (GET) and buys (POST) goods of a kind. */
export function purchasePath(kind: Kind): string {
  return `${catalogPath(kind)}/purchase/info`
}
