import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  addressIn,
  leaveAddress,
  type MailDeps,
  type MailedOrder,
  ordersFor,
} from '../../api/tracking/find.ts'
import { type RateLimiter, takeFrom } from '../../http/gate.ts'
import { rules } from '../../lib/refusal.ts'
import { type Html, html } from '../frame/html.ts'
import { emailAttributes, onlyField } from '../frame/parts.ts'
import { withRetryAfter } from '../frame/senders.ts'
import type { Texts } from '../texts/texts.ts'
import { formIn } from '../visitor.ts'
import { linkMail } from './link-mail.ts'
import { type OrderRequest, pageCredentialsOf, type TrackingRoutes } from './tracking.ts'

export interface MailPart {
  readonly typed?: string
  readonly result?: 'sent' | 'failed' | 'wrong' | 'tooMany'
}

/** The form for a mail. With a fault, its field says it; every other result is below the field. */
export function mailForm(
  action: string,
  group: 'orders.mail' | 'find.mail',
  { typed = '', result }: MailPart,
  t: Texts,
): Html {
  const isWrong = result === 'wrong'
  const field = {
    name: 'email',
    label: t(`${group}.label`),
    hint: t(`${group}.text`),
    fault: isWrong ? t(`${group}.wrong`) : undefined,
    value: typed,
    isRequired: true,
    attributes: emailAttributes,
  }
  return html`<section class="sheet by-mail" aria-labelledby="by-mail">
<h2 id="by-mail">${t(`${group}.title`)}</h2>
<form method="post" action="${action}#by-mail">
${onlyField(field, t)}
${result && !isWrong && html`<p class="${result === 'sent' ? 'good' : 'wrong'}" id="mail-said" role="status">${t(`${group}.${result}`)}</p>`}
<p class="act"><button class="button quiet" type="submit">${t(`${group}.send`)}</button></p>
</form>
</section>`
}

/** The maximum number of mails that this process sends at the same time; it drops further ones. */
const maxUnderWay = 20

/**
 * Sends links in the background, so that the answer takes the same time whether the address is known or not, and says
 * the same.
 */
export function createPost(pages: FastifyInstance, routes: TrackingRoutes) {
  const underWay = new Set<Promise<void>>()
  pages.addHook('onClose', async () => {
    await Promise.all(underWay)
  })
  return (address: string, mail: MailDeps): true => {
    if (underWay.size >= maxUnderWay) {
      pages.log.warn('too many mails at once; one was not sent')
      return true
    }
    const sending = ordersFor(routes.follow, mail, address)
      .then(async (orders) => {
        if (orders.length > 0) await sendOnce(routes, mail, { page: 'find', address, orders })
      })
      .catch((error: unknown) => pages.log.error({ err: error }, 'a mail was not sent'))
      .finally(() => underWay.delete(sending))
    underWay.add(sending)
    return true
  }
}

/** Reads the form for a mail, counts it, and sends the mail. @param send whether it was sent */
export async function takeMail(
  request: FastifyRequest,
  reply: FastifyReply,
  { mail, limits }: TrackingRoutes,
  send: (address: string, mail: MailDeps) => boolean | Promise<boolean>,
): Promise<MailPart> {
  const typed = formIn(request).get('email') ?? ''
  const address = addressIn(typed)
  if (address === undefined || mail === undefined) {
    reply.code(422)
    return { typed, result: 'wrong' }
  }
  const refusal = await takeFrom(limits.mail, request, reply)
  if (refusal) {
    withRetryAfter(reply.code(rules[refusal.code].status), refusal.details)
    return { typed, result: 'tooMany' }
  }
  return { typed, result: (await send(address, mail)) ? 'sent' : 'failed' }
}

/** Stores the address that a buyer leaves with an order, and sends the link there at once. */
export async function leaveMail(
  request: OrderRequest,
  routes: TrackingRoutes,
  mail: MailDeps,
  address: string,
): Promise<boolean> {
  const left = { id: request.params.orderId, credentials: pageCredentialsOf(request), address }
  const order = await leaveAddress(routes.follow, mail, left)
  if (order === undefined) return false
  try {
    return await sendOnce(routes, mail, { page: 'leave', address, orders: [order] })
  } catch (error) {
    request.log.error({ err: error }, 'a mail was not sent')
    return false
  }
}

interface MailRequest {
  /** On which page: by the buyer on the page of an order, or by anyone on the page that finds orders. */
  readonly page: 'leave' | 'find'
  readonly address: string
  readonly orders: readonly MailedOrder[]
}

/** How many times a mail that the mail server refuses is tried within the interval of its limit. */
const maxTries = 3

/** Reserves one of `maxTries` places to send a mail, on any node; without one, returns whether it was sent. */
async function placeOf(
  mailbox: RateLimiter,
  mail: string,
): Promise<{ readonly refused: string } | { readonly isThere: boolean }> {
  for (let at = 0; at < maxTries; at += 1) {
    const refused = `${mail} ${at} refused`
    if ((await mailbox.consume(`${mail} ${at}`)).allowed) return { refused }
    if ((await mailbox.peek(refused)).allowed) return { isThere: true }
  }
  return { isThere: false }
}

/**
 * Sends links to these orders, unless the same mail was sent a moment ago, so that no visitor can flood a mailbox.
 * Different mails to one address are limited for each page: a stranger who leaves the address with their own orders
 * does not use up the mails of an owner who looks for orders.
 *
 * @returns whether it was sent, now or a moment ago
 */
async function sendOnce(
  routes: TrackingRoutes,
  { mailer, digest, book }: MailDeps,
  { page, address, orders }: MailRequest,
): Promise<boolean> {
  const ids = orders.map(({ id }) => id).sort()
  const mail = digest.of([page, address, ...ids].join('\n'))
  const { mailbox, mailing } = routes.limits
  const place = await placeOf(mailbox, mail)
  if ('isThere' in place) return place.isThere
  let isSent = false
  try {
    if ((await mailing.consume(digest.of([page, address].join('\n')))).allowed) {
      const { frame, follow } = routes
      await mailer.send(linkMail({ ...frame, now: follow.purchases.now() }, address, orders))
      await book.sent(ids, page === 'leave' ? 'buyer' : 'anyone')
      isSent = true
    }
  } finally {
    if (!isSent) await mailbox.consume(place.refused)
  }
  return isSent
}
