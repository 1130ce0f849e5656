import * as z from 'zod'
import type { MailBook, Mailer } from '../../orders/mail.ts'
import type { OrderId } from '../../primitives/ids.ts'
import type { Digest } from '../../secrets/tokens.ts'
import type { FollowDeps } from './deps.ts'
import { orderPass, withoutPass } from './passes.ts'
import type { Opener } from './sight.ts'
import { opens, recordsOf } from './sight.ts'

/** What it takes to send links by mail; a store without a mail server has none of it. */
export interface MailDeps {
  readonly mailer: Mailer
  readonly book: MailBook
  /** Knows an address again that is not kept. */
  readonly digest: Digest
}

/** Links in one mail at most, the newest orders first. */
const linksMost = 20
const addressShape = z.email().max(254)

/** An address as it is compared: what is typed differs in its case and in the space around it. */
export function addressIn(text: string): string | undefined {
  const parsed = addressShape.safeParse(text.trim().toLowerCase())
  return parsed.success ? parsed.data : undefined
}

/** What leads to an order and opens it. */
export interface OrderLink {
  readonly id: OrderId
  readonly url: string
}

/**
 * Notes the address with an order, for whoever bought it. A pass that came by mail opens the order for
 * a while and changes nothing: it would renew itself, and put another address in the buyer's place.
 *
 * @returns the link that opens the order; undefined for everyone else, and before there is an order
 */
export async function leaveAddress(
  deps: FollowDeps,
  { book, digest }: MailDeps,
  { id, opener, address }: { id: string; opener: Opener; address: string },
): Promise<OrderLink | undefined> {
  const records = await recordsOf(deps, id)
  if (!records.order || !(await opens(deps, records, withoutPass(opener)))) return undefined
  await book.remember(records.order.id, digest.of(address))
  return linkTo(deps, records.order.id)
}

/** Links to the orders that this address was left with; none for most addresses. */
export async function linksFor(
  deps: FollowDeps,
  { book, digest }: MailDeps,
  address: string,
): Promise<readonly OrderLink[]> {
  const ids = await book.ordersOf(digest.every(address), linksMost)
  return ids.map((id) => linkTo(deps, id))
}

/** What opens the order stands behind the `#`, which browsers keep to themselves. */
function linkTo(deps: FollowDeps, id: OrderId): OrderLink {
  return { id, url: `${deps.site.url}/orders/${id}#${orderPass(deps, id)}` }
}
