import type { Bought } from '../../api/bought.ts'
import type { OrderId } from '../../lib/ids.ts'
import { type Html, html } from '../frame/html.ts'

/**
 * What `scripts/recent.js` keeps of an order in the browser of its buyer, to list it on the page that finds
 * orders: nothing that opens it. Put it into the tag: `<div${recentMark(...)}>`.
 */
export function recentMark(id: OrderId, { brandName }: Pick<Bought, 'brandName'>, at: Date): Html {
  return html` data-recent="${id}" data-recent-name="${brandName}" data-recent-at="${at.toISOString()}"`
}
