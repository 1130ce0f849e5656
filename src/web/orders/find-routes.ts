import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  findPath,
  orderNamedBy,
  ordersOfSession,
  sessionForWallet,
  walletChallenge,
} from '../../api/tracking/find.ts'
import { addressIn } from '../../api/tracking/mail.ts'
import { viewOf } from '../../api/tracking/order-view.ts'
import { linkTokenForCode } from '../../api/tracking/recovery.ts'
import { sessionSeconds } from '../../api/tracking/tokens.ts'
import type { OrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { readToken, rememberOrder, rememberWallet, walletIn } from '../visit/access.ts'
import { formIn, isFromElsewhere, routeForm } from '../visit/forms.ts'
import { orderPagePath, payPath } from '../visit/paths.ts'
import { privately } from '../visit/privately.ts'
import { type FindPageParts, findPage } from './find-page.ts'
import { createPost, mayAsk } from './mail-routes.ts'
import { sayElsewhere } from './order-routes.ts'
import { acts, reads, sendPrivately, type TrackingRoutes, takes } from './tracking.ts'

export interface FindRoutes extends TrackingRoutes {
  /** The script that lets a wallet sign in. */
  readonly signInUrl: string
}

/** The page that leads back to an order. */
export function routeFindPage(pages: FastifyInstance, routes: FindRoutes): void {
  const { follow } = routes
  pages.get(findPath, reads, (request, reply) => sendFind(request, reply, routes))
  routeForm(pages, `${findPath}/payment`, takes, (request, reply) =>
    byNumber(request, reply, routes),
  )
  routeForm(pages, `${findPath}/challenge`, takes, async (request: FastifyRequest, reply) => {
    const challenge = walletChallenge(follow, formIn(request).get('address') ?? '')
    if (challenge === undefined) return privately(reply.code(422)).send({ error: 'no address' })
    return privately(reply).send(challenge)
  })
  routeForm(pages, `${findPath}/wallet`, acts, (request, reply) => byWallet(request, reply, routes))
  routeForm(pages, `${findPath}/leave`, takes, async (request: FastifyRequest, reply) => {
    if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
    rememberWallet(reply, { sessionToken: '', seconds: 0, isSecure: isSecure(routes) })
    return privately(reply).redirect(findPath, 303)
  })
  routeByMail(pages, routes)
}

/** Every address is answered the same, at once. */
function routeByMail(pages: FastifyInstance, routes: FindRoutes): void {
  const { mail } = routes
  if (mail === undefined) return
  const post = createPost(pages, routes)
  routeForm(pages, `${findPath}/mail`, takes, async (request: FastifyRequest, reply) => {
    if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
    const typed = formIn(request).get('email') ?? ''
    const address = addressIn(typed)
    if (address === undefined) {
      return sendFind(request, reply.code(422), routes, { mail: { typed, said: 'wrong' } })
    }
    if (!(await mayAsk(routes, request, reply))) {
      return sendFind(request, reply, routes, { mail: { typed, said: 'tooMany' } })
    }
    post(address, mail)
    return sendFind(request, reply, routes, { mail: { typed, said: 'done' } })
  })
}

/**
 * A number leads to its page. What everyone may read in the chain leads to the state of its order, and on
 * to its page for whoever opens it.
 */
async function byNumber(request: FastifyRequest, reply: FastifyReply, routes: FindRoutes) {
  if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
  const form = formIn(request)
  const typed = (form.get('number') ?? '').slice(0, 300)
  const named = await orderNamedBy(routes.follow, typed, request.log)
  switch (named.type) {
    case 'order':
      return privately(reply).redirect(orderPagePath(named.id), 303)
    case 'checkout':
      return privately(reply).redirect(payPath(named.id), 303)
    case 'public':
      return byPublic(request, reply, routes, { id: named.id, typed, token: form.get('token') })
    default: {
      const status = named.type === 'wrong' ? 422 : 404
      return sendFind(request, reply.code(status), routes, { number: { typed, said: named.type } })
    }
  }
}

/** The state of an order for everyone; its page for whoever brings its link, its code or its wallet. */
async function byPublic(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: FindRoutes,
  { id, typed, token: text }: { id: OrderId; typed: string; token: string | null },
) {
  const { follow } = routes
  const token = readToken(text) ?? linkTokenForCode(follow, id, text ?? '')
  const credentials = { token, wallet: walletIn(request) }
  const view = await viewOf(follow, id, credentials, request.log)
  if (view.own) {
    const { checkout } = view
    if (token !== undefined) {
      rememberOrder(reply, { orderId: id, checkout, token, isSecure: isSecure(routes) })
    }
    return privately(reply).redirect(orderPagePath(id), 303)
  }
  const isWrong = text !== null
  const page = { number: { typed }, found: { view, typed, isWrong } }
  return sendFind(request, isWrong ? reply.code(422) : reply, routes, page)
}

/** Remembers the wallet that signed, so that its orders open in this browser for a while. */
async function byWallet(request: FastifyRequest, reply: FastifyReply, routes: FindRoutes) {
  if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
  try {
    const signed = formIn(request).get('signed') ?? ''
    const sessionToken = await sessionForWallet(routes.follow, signed, request.log)
    if (sessionToken === undefined) {
      return sendFind(request, reply.code(422), routes, { wallet: { said: 'failed' } })
    }
    rememberWallet(reply, { sessionToken, seconds: sessionSeconds, isSecure: isSecure(routes) })
    return privately(reply).redirect(findPath, 303)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'sign_in_invalid') throw error
    return sendFind(request, reply.code(401), routes, { wallet: { said: 'failed' } })
  }
}

function isSecure({ follow }: FindRoutes): boolean {
  return follow.site.url.startsWith('https:')
}

/** The page with what there is to say, and with the orders of the wallet that is signed in. */
async function sendFind(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: FindRoutes,
  said: Pick<FindPageParts, 'number' | 'found' | 'mail' | 'wallet'> = {},
) {
  const { frame, follow } = routes
  const page = findPage({
    t: frame.t,
    contact: frame.site.contact,
    scriptUrls: [routes.signInUrl, frame.scriptUrl('recent.js')],
    ...(routes.mail === undefined ? {} : { mail: {} }),
    ...said,
    list: await ordersOfSession(follow, walletIn(request), request.log),
  })
  return sendPrivately(reply, routes, page)
}
