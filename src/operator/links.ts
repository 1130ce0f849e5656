import { denylistReader } from '../adapters/storage/denylist.ts'
import { createMailBook } from '../adapters/storage/webhooks.ts'
import { addressIn, asMailed, isPaidFor, type MailedOrder } from '../api/tracking/find.ts'
import type { OrderId } from '../lib/ids.ts'
import { denylistOf, isDenied } from '../orders/denylist.ts'
import type { Mailer } from '../orders/ports.ts'
import { createDigest, createSigner, createVault } from '../secrets/secrets.ts'
import { linkMail } from '../web/orders/link-mail.ts'
import { textsIn } from '../web/texts/texts.ts'
import { audited } from './audit.ts'
import { type Operator, Refused } from './operator.ts'
import { recordsOf } from './orders.ts'

/** @throws Refused for an order that nobody has paid */
async function newLink(operator: Operator, id: OrderId): Promise<MailedOrder> {
  const { order, checkout } = await recordsOf(operator, id)
  if (!isPaidFor({ order, checkout })) throw new Refused(`Nobody has paid for ${id}.`)
  const { item, recipient } = (order ?? checkout) as NonNullable<typeof order>
  const placedAt = order?.placedAt ?? checkout?.startedAt ?? operator.now()
  const { site, secretsKeys } = operator.config
  const tokenSigner = createSigner(secretsKeys, 'order-pass')
  const purchases = { now: operator.now, vault: createVault(secretsKeys) }
  return asMailed({ site, tokenSigner, purchases }, { orderId: id, item, recipient, placedAt })
}

export interface Resending {
  /** Without one, the operator gets the link, for a buyer whom no mail reaches. */
  readonly to?: string | undefined
  readonly reason: string
}

/**
 * A link that opens the order for some days. The address is the one of the order from now on: its owner can ask for
 * further links on the page that finds orders.
 *
 * @param mailer undefined in a dry run
 * @throws Refused for what is no address, or one on the denylist, or if the mail server refuses the mail
 */
export async function resendLink(
  operator: Operator,
  id: OrderId,
  { to, reason }: Resending,
  mailer: Mailer | undefined,
) {
  const address = to === undefined ? undefined : await mailable(operator, to)
  const order = await newLink(operator, id)
  const digest = createDigest(operator.config.secretsKeys, 'order-mail')
  const entry = (isNewAddress: boolean) => ({
    ...{ act: 'order resend', subject: `order:${id}`, reason },
    after: { isMailed: address !== undefined, isNewAddress },
  })
  const isNewAddress = await audited(operator, entry, async (client) => {
    const book = createMailBook(client)
    await book.sent([id], 'operator')
    if (address === undefined) return false
    if ((await book.ordersOf(digest.every(address), 1_000)).includes(id)) return false
    await book.remember(id, digest.of(address))
    return true
  })
  if (address === undefined) return { order: id, isNewAddress, link: order.link }
  const about = { t: textsIn('en'), site: operator.config.site, now: operator.now() }
  await mailer?.send(linkMail(about, address, [order])).catch((error: Error) => {
    throw new Refused(`The mail server does not take it: ${error.message}. Run the same again.`)
  })
  return { order: id, isNewAddress, link: null }
}

async function mailable({ config, database }: Operator, to: string): Promise<string> {
  const address = addressIn(to)
  if (address === undefined) throw new Refused('That is no e-mail address.')
  const denylist = denylistOf(
    await denylistReader(database)(),
    createDigest(config.secretsKeys, 'orders'),
  )
  if (isDenied(denylist, address)) {
    throw new Refused('This address is on the denylist, and gets no mail.')
  }
  return address
}
