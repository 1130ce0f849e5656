import * as z from 'zod'
import { isInvoiced } from '../../checkouts/checkout.ts'
import type { OrderId } from '../../lib/ids.ts'
import type { MailBook, Mailer } from '../../orders/ports.ts'
import type { Digest } from '../../secrets/secrets.ts'
import { type Bought, boughtOf } from '../bought.ts'
import { type OrderTrackingDeps, opens, type Records, recordsOf } from './order-view.ts'
import { linkToken, type PageCredentials, withoutLinkToken } from './tokens.ts'

/** The dependencies of sending links by mail; absent if the store has no mail server. */
export interface MailDeps {
  readonly mailer: Mailer
  readonly book: MailBook
  /** Recognises addresses, which are not stored themselves. */
  readonly digest: Digest
}

/** The maximum number of orders in one mail, newest first. */
const maxOrders = 20
const addressShape = z.email().max(254)

/** An address in the form for comparing: in lower case and trimmed. Undefined if it is not valid. */
export function addressIn(text: string): string | undefined {
  const parsed = addressShape.safeParse(text.trim().toLowerCase())
  return parsed.success ? parsed.data : undefined
}

/** An order in a mail: what it is, and the link that opens it. */
export interface MailedOrder {
  readonly id: OrderId
  readonly bought: Bought
  readonly placed: Date
  /** The token is after the `#`, which browsers do not send. */
  readonly link: string
}

/**
 * Stores the buyer's address with an order. A link token from a mail opens the order for some time but cannot change
 * the address: otherwise it could renew itself, and replace the address of the buyer. For a checkout that is not paid,
 * nothing is stored or sent here, because anyone can start one.
 *
 * @returns the order for the mail; undefined if the visitor may not leave an address
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

/**
 * The orders with which this address was left, and the checkouts of which a payment was seen. Anyone can begin a
 * checkout with the address of somebody else, who must not get mail about it.
 */
export async function ordersFor(
  deps: OrderTrackingDeps,
  { book, digest }: MailDeps,
  address: string,
): Promise<readonly MailedOrder[]> {
  const ids = await book.ordersOf(digest.every(address), maxOrders)
  const found = await Promise.all(
    ids.map(async (id) => {
      const records = await recordsOf(deps, id)
      return isPaidFor(records) ? mailedOrder(deps, records) : undefined
    }),
  )
  return found.filter((one) => one !== undefined)
}

function isPaidFor({ order, checkout }: Records): boolean {
  if (order !== undefined) return true
  return checkout !== undefined && isInvoiced(checkout) && checkout.invoice.payments.length > 0
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
