import * as z from 'zod'
import type { OrderId } from '../../lib/ids.ts'
import type { MailBook, Mailer } from '../../orders/mail.ts'
import type { Digest } from '../../secrets/tokens.ts'
import { type Bought, boughtOf } from '../bought.ts'
import type { OrderTrackingDeps } from './deps.ts'
import { opens, type Records, recordsOf } from './order-view.ts'
import { linkToken, type PageCredentials, withoutLinkToken } from './tokens.ts'

/** What it takes to send links by mail; a store without a mail server has none of it. */
export interface MailDeps {
  readonly mailer: Mailer
  readonly book: MailBook
  /** Knows an address again that is not kept. */
  readonly digest: Digest
}

/** Orders in one mail at most, the newest first. */
const maxOrders = 20
const addressShape = z.email().max(254)

/** An address as it is compared: what is typed differs in its case and in the space around it. */
export function addressIn(text: string): string | undefined {
  const parsed = addressShape.safeParse(text.trim().toLowerCase())
  return parsed.success ? parsed.data : undefined
}

/** An order in a mail: what it is, and the link that opens it. */
export interface MailedOrder {
  readonly id: OrderId
  readonly bought: Bought
  readonly placed: Date
  /** What opens the order stands behind the `#`, which browsers keep to themselves. */
  readonly link: string
}

/**
 * Notes the buyer's address with an order. A link token from a mail opens the order for a while but cannot
 * change the address: otherwise it could renew itself, and replace the address of the buyer.
 * Nothing is noted and sent for a checkout that is not paid: anybody can begin those, for any address.
 *
 * @returns the order as a mail tells it; undefined for everyone else
 */
export async function leaveAddress(
  deps: OrderTrackingDeps,
  { book, digest }: MailDeps,
  { id, credentials, address }: { id: string; credentials: PageCredentials; address: string },
): Promise<MailedOrder | undefined> {
  const records = await recordsOf(deps, id)
  if (!records.order || !(await opens(deps, records, withoutLinkToken(credentials))))
    return undefined
  const mailed = mailedOrder(deps, records)
  if (mailed) await book.remember(mailed.id, digest.of(address))
  return mailed
}

/** The orders that this address was left with; none for most addresses. */
export async function ordersFor(
  deps: OrderTrackingDeps,
  { book, digest }: MailDeps,
  address: string,
): Promise<readonly MailedOrder[]> {
  const ids = await book.ordersOf(digest.every(address), maxOrders)
  const found = await Promise.all(
    ids.map(async (id) => mailedOrder(deps, await recordsOf(deps, id))),
  )
  return found.filter((one) => one !== undefined)
}

function mailedOrder(
  deps: OrderTrackingDeps,
  { order, checkout }: Records,
): MailedOrder | undefined {
  const record = order ?? checkout
  const id = order?.id ?? checkout?.orderId
  if (record === undefined || id === undefined) return undefined
  const { item, recipient } = record
  return {
    id,
    bought: boughtOf(deps.purchases, { orderId: id, item, recipient }),
    placed: order?.placedAt ?? checkout?.startedAt ?? deps.purchases.now(),
    link: `${deps.site.url}/orders/${id}#${linkToken(deps, id)}`,
  }
}
