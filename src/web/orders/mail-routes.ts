import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findPath } from '../../desk/following/find.ts'
import {
  addressIn,
  leaveAddress,
  linksFor,
  type MailDeps,
  type OrderLink,
} from '../../desk/following/mail.ts'
import { orderPassDays } from '../../desk/following/passes.ts'
import { rules } from '../../desk/refusals.ts'
import { clientKeyOf } from '../../http/client-key.ts'
import { counted } from '../../http/gate.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { formIn } from '../visit/forms.ts'
import { type FollowingRoutes, type OrderRequest, openerOf } from './following.ts'
import type { MailPart } from './order-page.ts'

/** Mails that are being sent at once in this process; what comes on top is let go. */
const underWayMost = 20

/**
 * Sends links to an address in the background, so that the answer to asking takes the same time
 * whether the address is known or not.
 */
export function createPost(pages: FastifyInstance, routes: FollowingRoutes) {
  const underWay = new Set<Promise<void>>()
  pages.addHook('onClose', async () => {
    await Promise.all(underWay)
  })
  return (address: string, mail: MailDeps): void => {
    if (underWay.size >= underWayMost) {
      pages.log.warn('too many mails at once; one was not sent')
      return
    }
    const sending = sendLinks(routes, mail, address)
      .catch((error: unknown) => pages.log.error({ err: error }, 'a mail was not sent'))
      .finally(() => underWay.delete(sending))
    underWay.add(sending)
  }
}

async function sendLinks(routes: FollowingRoutes, mail: MailDeps, address: string): Promise<void> {
  const links = await linksFor(routes.follow, mail, address)
  if (links.length > 0) await send(routes, mail, { asked: 'find', address, links })
}

/**
 * Counts a mail that a visitor asks for. One too many sets the status: the form says so itself, for
 * the page of every other refusal would speak of a minute and lose what was typed.
 */
export async function mayAsk(
  { limits }: FollowingRoutes,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  try {
    counted(limits.mail, await limits.mail.take(clientKeyOf(request.ip)), reply)
    return true
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'rate_limited') throw error
    const { retryAfterSeconds = 1 } = error.details
    reply.code(rules[error.code].status).header('retry-after', String(retryAfterSeconds))
    return false
  }
}

/** Takes the address that somebody leaves with an order of theirs, and sends the link there at once. */
export async function sendMail(
  request: OrderRequest,
  reply: FastifyReply,
  routes: FollowingRoutes,
): Promise<MailPart> {
  const typed = formIn(request).get('email') ?? ''
  const address = addressIn(typed)
  const { mail, follow } = routes
  if (address === undefined || mail === undefined) {
    reply.code(422)
    return { typed, said: 'wrong' }
  }
  if (!(await mayAsk(routes, request, reply))) return { typed, said: 'tooMany' }
  const opener = openerOf(request)
  const link = await leaveAddress(follow, mail, { id: request.params.orderId, opener, address })
  const isSent = link !== undefined && (await isTaken(request, routes, mail, address, link))
  return { typed, said: isSent ? 'sent' : 'failed' }
}

async function isTaken(
  request: OrderRequest,
  routes: FollowingRoutes,
  mail: MailDeps,
  address: string,
  link: OrderLink,
): Promise<boolean> {
  try {
    await send(routes, mail, { asked: 'leave', address, links: [link] })
    return true
  } catch (error) {
    request.log.error({ err: error }, 'a mail was not sent')
    return false
  }
}

interface Wanted {
  /** By whom: whoever left the address, or anybody who typed it. */
  readonly asked: 'leave' | 'find'
  readonly address: string
  readonly links: readonly OrderLink[]
}

/**
 * Sends these links, unless the same ones went there a moment ago: nobody's mailbox is filled by this
 * store, whoever types the address, and no stranger keeps its owner from a mail that is not there yet.
 * What is counted here is told to nobody, so it says of no address whether it has bought.
 */
async function send(
  routes: FollowingRoutes,
  { mailer, digest }: MailDeps,
  { asked, address, links }: Wanted,
): Promise<void> {
  const orders = links.map(({ id }) => id).sort()
  const mail = digest.of([asked, address, ...orders].join('\n'))
  if (!(await routes.limits.mailbox.take(mail)).allowed) return
  const urls = links.map(({ url }) => url)
  await mailer.send(written(routes, address, urls))
}

function written({ frame }: FollowingRoutes, to: string, links: readonly string[]) {
  const { mails } = frame.texts
  const { name, url } = frame.site
  const text = [
    links.length === 1 ? mails.hello : mails.helloMany,
    ...links,
    mails.good(orderPassDays, `${url}${findPath}`),
    mails.notYou,
    `${name}\n${url}`,
  ].join('\n\n')
  return { to, subject: mails.subject(name), text }
}
