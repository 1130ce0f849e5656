import { randomBytes } from 'node:crypto'
import type { Kind } from '../../catalog/offer.ts'
import type { OrderId } from '../../lib/ids.ts'
import { isUnderWay, type Order } from '../../orders/order.ts'
import { issueToken, readToken } from '../../secrets/secrets.ts'
import type { BuyingDeps } from '../operation.ts'
import { orderBody } from '../orders/order.ts'

const linkMs = 24 * 60 * 60_000

export const revealPath = '/reveal'

/** The token is in the fragment, which browsers do not send, so no server or proxy logs it. */
export function revealLink(
  { site, purchases, reveals }: Pick<BuyingDeps, 'site' | 'purchases' | 'reveals'>,
  order: Order,
) {
  const expiresAt = new Date(purchases.now().getTime() + linkMs)
  const names = [order.id, randomBytes(16).toString('base64url')]
  return {
    url: `${site.url}${revealPath}#${issueToken(reveals, '', { names, expiresAt })}`,
    expiresAt: expiresAt.toISOString(),
  }
}

export type Revealed =
  | ({ readonly type: 'goods' } & RevealedGoods)
  | { readonly type: 'not_yet' | 'never' | 'used' | 'expired' | 'unknown' }

export interface RevealedGoods {
  readonly orderId: OrderId
  readonly kind: Kind
  readonly brandName: string
  readonly result: Readonly<Record<string, unknown>>
}

/** A link is used up only when it shows the goods. */
export async function openReveal(deps: BuyingDeps, token: string): Promise<Revealed> {
  const signed = readToken(deps.reveals, '', token.trim())
  if (signed === undefined) return { type: 'unknown' }
  const { names, expiresAt } = signed
  const [orderId, link] = names as [OrderId, string]
  if (expiresAt <= deps.purchases.now()) return { type: 'expired' }
  const order = await deps.orders.find(orderId)
  if (order === undefined) return { type: 'unknown' }
  const unnoted = { ...deps.receipts, noteShown: () => undefined }
  const [summary] = (await orderBody(unnoted, { order, reveal: 'once' })).orders
  if (!summary?.result) return { type: isUnderWay(order) ? 'not_yet' : 'never' }
  const isFirst = await deps.signIn.nonces.useOnce(`reveal:${link}`, expiresAt)
  if (!isFirst) return { type: 'used' }
  deps.receipts.noteShown(orderId, 'once')
  const { kind, brandName } = order.item
  return { type: 'goods', orderId, kind, brandName, result: summary.result }
}
