import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orNotNow } from '../../api/buying/or-not-now.ts'
import { rules } from '../../api/refusals.ts'
import { findPath } from '../../api/tracking/find.ts'
import {
  addressIn,
  leaveAddress,
  type MailDeps,
  type MailedOrder,
  ordersFor,
} from '../../api/tracking/mail.ts'
import { linkTokenDays } from '../../api/tracking/tokens.ts'
import { clientKeyOf } from '../../http/client-key.ts'
import { counted } from '../../http/gate.ts'
import type { RateLimiter } from '../../http/rate-limit.ts'
import { Refusal } from '../../lib/refusal.ts'
import { withRetryAfter } from '../frame/retry-after.ts'
import type { Texts } from '../texts/texts.ts'
import { formIn } from '../visit/forms.ts'
import { boughtText } from './bought.ts'
import type { MailPart } from './order-page.ts'
import { type OrderRequest, pageCredentialsOf, type TrackingRoutes } from './tracking.ts'

/** Mails that are being sent at once in this process; what comes on top is let go. */
const maxUnderWay = 20

/**
 * Sends links to an address in the background, so that the answer to asking takes the same time
 * whether the address is known or not.
 */
export function createPost(pages: FastifyInstance, routes: TrackingRoutes) {
  const underWay = new Set<Promise<void>>()
  pages.addHook('onClose', async () => {
    await Promise.all(underWay)
  })
  return (address: string, mail: MailDeps): void => {
    if (underWay.size >= maxUnderWay) {
      pages.log.warn('too many mails at once; one was not sent')
      return
    }
    const sending = sendLinks(routes, mail, address)
      .catch((error: unknown) => pages.log.error({ err: error }, 'a mail was not sent'))
      .finally(() => underWay.delete(sending))
    underWay.add(sending)
  }
}

async function sendLinks(routes: TrackingRoutes, mail: MailDeps, address: string): Promise<void> {
  const orders = await ordersFor(routes.follow, mail, address)
  if (orders.length > 0) await send(routes, mail, { asked: 'find', address, orders })
}

/**
 * Counts a mail that a visitor asks for. One too many sets the status: the form says so itself, for
 * the page of every other refusal would speak of a minute and lose what was typed.
 */
export async function mayAsk(
  { limits }: TrackingRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  try {
    counted(limits.mail, await limits.mail.take(clientKeyOf(request.ip)), reply)
    return true
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'rate_limited') throw error
    withRetryAfter(reply.code(rules[error.code].status), error.details)
    return false
  }
}

/** Takes the address that somebody leaves with an order of theirs, and sends the link there at once. */
export async function sendMail(
  request: OrderRequest,
  reply: FastifyReply,
  routes: TrackingRoutes,
): Promise<MailPart> {
  const typed = formIn(request).get('email') ?? ''
  const address = addressIn(typed)
  const { mail, follow } = routes
  if (address === undefined || mail === undefined) {
    reply.code(422)
    return { typed, said: 'wrong' }
  }
  if (!(await mayAsk(routes, request, reply))) return { typed, said: 'tooMany' }
  const credentials = pageCredentialsOf(request)
  const left = { id: request.params.orderId, credentials, address }
  const order = await orNotNow(request.log, () => leaveAddress(follow, mail, left))
  const isSent = order !== undefined && (await isTaken(request, routes, mail, address, order))
  return { typed, said: isSent ? 'sent' : 'failed' }
}

async function isTaken(
  request: OrderRequest,
  routes: TrackingRoutes,
  mail: MailDeps,
  address: string,
  order: MailedOrder,
): Promise<boolean> {
  try {
    return await send(routes, mail, { asked: 'leave', address, orders: [order] })
  } catch (error) {
    request.log.error({ err: error }, 'a mail was not sent')
    return false
  }
}

interface Wanted {
  /** By whom: whoever left the address, or anybody who typed it. */
  readonly asked: 'leave' | 'find'
  readonly address: string
  readonly orders: readonly MailedOrder[]
}

/** How often a mail is tried that the mail server refuses, before the time of its place is over. */
const maxTries = 3

/**
 * The place of a mail, to whoever may send it now. The place of a try that was refused is no place of a
 * mail: the next one may be taken, up to a bound, on whichever node. Otherwise, whether it is there.
 */
async function placeOf(
  mailbox: RateLimiter,
  mail: string,
): Promise<{ readonly refused: string } | { readonly isThere: boolean }> {
  for (let at = 0; at < maxTries; at += 1) {
    const refused = `${mail} ${at} refused`
    if ((await mailbox.take(`${mail} ${at}`)).allowed) return { refused }
    if ((await mailbox.peek(refused)).allowed) return { isThere: true }
  }
  return { isThere: false }
}

/**
 * Sends links to these orders, unless the same ones went there a moment ago: nobody's mailbox is filled by this
 * store, whoever types the address, and no stranger keeps its owner from a mail that is not there yet.
 * Different mails to one address are bounded too, for each reason apart: whoever leaves it with orders of theirs
 * uses up no mail to its owner who looks for orders, and each of those has the links of all orders.
 * What is counted here is told to nobody, so it says of no address whether it has bought.
 *
 * @returns whether it was sent, now or a moment ago
 * @throws when the mail server refuses it
 */
async function send(
  routes: TrackingRoutes,
  { mailer, digest }: MailDeps,
  { asked, address, orders }: Wanted,
): Promise<boolean> {
  const ids = orders.map(({ id }) => id).sort()
  const mail = digest.of([asked, address, ...ids].join('\n'))
  const { mailbox, mailing } = routes.limits
  const place = await placeOf(mailbox, mail)
  if ('isThere' in place) return place.isThere
  let isSent = false
  try {
    isSent = (await mailing.take(digest.of([asked, address].join('\n')))).allowed
    if (isSent) await mailer.send(written(routes, address, orders))
  } catch (error) {
    isSent = false
    throw error
  } finally {
    if (!isSent) await mailbox.take(place.refused)
  }
  return isSent
}

function written({ frame, follow }: TrackingRoutes, to: string, orders: readonly MailedOrder[]) {
  const { t } = frame
  const { name, url, contact } = frame.site
  const until = new Date(follow.purchases.now().getTime() + linkTokenDays * 86_400_000)
  const paragraphs = orders.map(({ id, bought, placed, link }) =>
    [boughtText(bought, t), t('mail.order', { id, date: dateText(placed, t) }), link].join('\n'),
  )
  const text = [
    orders.length === 1 ? t('mail.hello') : t('mail.helloMany'),
    ...paragraphs,
    t('mail.good', { until: dateText(until, t), url: `${url}${findPath}` }),
    t('mail.notYou'),
    `${name}\n${url}\n${contact}`,
  ].join('\n\n')
  const [first] = orders
  const subject =
    orders.length === 1 && first
      ? t('mail.subjectOne', { store: name, order: first.id })
      : t('mail.subject', { store: name })
  return { to, subject, text }
}

/** "Nov 29, 2026", by the calendar of UTC. */
function dateText(date: Date, { language }: Texts): string {
  return date.toLocaleDateString(language, { dateStyle: 'medium', timeZone: 'UTC' })
}
