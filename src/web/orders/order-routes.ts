import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { keyOf } from '../../api/buying/credentials.ts'
import { receiptOf } from '../../api/orders/receipt.ts'
import { refundClaimed } from '../../api/orders/refund.ts'
import { rules } from '../../api/refusals.ts'
import { goodsFor } from '../../api/tracking/goods.ts'
import { type OrderPageView, viewOf } from '../../api/tracking/order-view.ts'
import { linkTokenForCode, linkTokenForKey, recoveryCodeOf } from '../../api/tracking/recovery.ts'
import {
  daysLeftOf,
  isOutdatedLinkToken,
  linkToken,
  linkTokenDays,
  withoutLinkToken,
} from '../../api/tracking/tokens.ts'
import { clientKeyOf } from '../../http/client-key.ts'
import { isOrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { messagePage } from '../frame/message-page.ts'
import { withRetryAfter } from '../frame/retry-after.ts'
import { routeLive } from '../live/live.ts'
import { titled } from '../texts/texts.ts'
import { accessIn, readToken, rememberOrder } from '../visit/access.ts'
import { formIn, isFromElsewhere, routeForm } from '../visit/forms.ts'
import { orderPagePath } from '../visit/paths.ts'
import { privately } from '../visit/privately.ts'
import { sendMail } from './mail-routes.ts'
import { type KeptLink, type MailPart, type OrderPageParts, orderPage } from './order-page.ts'
import { type RefundAnswer, refundPage } from './refund-page.ts'
import {
  acts,
  type OrderRequest,
  pageCredentialsOf,
  reads,
  sendPrivately,
  type TrackingRoutes,
  takes,
} from './tracking.ts'

const at = '/orders/:orderId'

/** The page of an order, what opens it, its goods, its receipt and its refund. */
export function routeOrderPages(pages: FastifyInstance, routes: TrackingRoutes): void {
  const { follow } = routes
  routeLive(pages, at, async (request) => {
    const { orderId } = request.params as OrderRequest['params']
    return (await viewOf(follow, orderId, {}, request.log)).version
  })
  pages.get(at, reads, async (request: OrderRequest, reply) =>
    sendOrder(reply, routes, request, await look(routes, request)),
  )
  const forms = { open: [takes, open], goods: [takes, show], mail: [acts, mail] } as const
  for (const [name, [options, take]] of Object.entries(forms)) {
    routeForm(pages, `${at}/${name}`, options, (request: OrderRequest, reply) =>
      take(request, reply, routes),
    )
  }
  pages.get(`${at}/receipt`, reads, async (request: OrderRequest, reply) => {
    const { orderId } = request.params
    const receipt = await receiptOf(follow, orderId, () => ({}), request.log)
    return privately(reply)
      .header('content-disposition', `attachment; filename="receipt-${orderId}.json"`)
      .send(receipt)
  })
  routeRefundPage(pages, routes)
}

function routeRefundPage(pages: FastifyInstance, routes: TrackingRoutes): void {
  const send = (reply: FastifyReply, view: OrderPageView, asked?: RefundAnswer) => {
    const { t } = routes.frame
    const page = refundPage(view, {
      t,
      scriptUrls: scriptsOf(routes),
      formKey: randomUUID(),
      asked,
    })
    return sendPrivately(reply, routes, page)
  }
  pages.get(`${at}/refund`, reads, async (request: OrderRequest, reply) =>
    send(reply, await look(routes, request)),
  )
  pages.post(`${at}/refund`, acts, async (request: OrderRequest, reply) => {
    if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
    const asked = await askForRefund(request, reply, routes)
    return send(reply, await look(routes, request), asked)
  })
}

/** Claims the refund; the page itself says what else than a refund under way comes of that. */
async function askForRefund(
  request: OrderRequest,
  reply: FastifyReply,
  routes: TrackingRoutes,
): Promise<RefundAnswer> {
  const key = keyOf(formIn(request).get('key') ?? '', 'key') ?? randomUUID()
  const { orderId } = request.params
  const client = clientKeyOf(request.ip)
  const isOwn = async () => (await look(routes, request)).own !== undefined
  try {
    const claimed = { orderId, key, fields: {}, client, isOwn }
    await refundClaimed(routes.follow, claimed, request.log)
    return { type: 'taken' }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const asked = whyNotAsked(error)
    if (asked === undefined) throw error
    withRetryAfter(reply.code(rules[error.code].status), error.details)
    return asked
  }
}

function whyNotAsked({ code, details }: Refusal): RefundAnswer | undefined {
  if (code === 'not_refundable') return { type: 'none' }
  if (code !== 'budget_spent') return undefined
  return { type: 'tooOften', seconds: details.retryAfterSeconds ?? 60 }
}

function look({ follow }: TrackingRoutes, request: OrderRequest): Promise<OrderPageView> {
  return viewOf(follow, request.params.orderId, pageCredentialsOf(request), request.log)
}

function scriptsOf({ frame }: TrackingRoutes): readonly string[] {
  return ['live.js', 'open.js', 'copy.js', 'recent.js'].map(frame.scriptUrl)
}

type PageExtras = Pick<OrderPageParts, 'shown' | 'refused'> & { readonly mail?: MailPart }

function sendOrder(
  reply: FastifyReply,
  routes: TrackingRoutes,
  request: OrderRequest,
  view: OrderPageView,
  said: PageExtras = {},
) {
  const { frame } = routes
  const { token, wallet } = withoutLinkToken(pageCredentialsOf(request))
  const isBuyer = view.own !== undefined && (token ?? wallet) !== undefined
  const mayMail = routes.mail !== undefined && isBuyer && view.times.paid
  const page = orderPage(view, {
    t: frame.t,
    contact: frame.site.contact,
    scriptUrls: scriptsOf(routes),
    privateLink: view.own && linkOf(routes, request, view),
    // Whoever came by a link token, which ends, is not given what opens the order for good.
    code: isBuyer ? recoveryCodeOf(routes.follow, view.id) : undefined,
    shown: said.shown,
    refused: said.refused,
    sendsMail: routes.mail !== undefined,
    mail: mayMail ? (said.mail ?? {}) : undefined,
  })
  return sendPrivately(reply, routes, page)
}

/** The link that a person keeps: with the token of the order for good, else with a link token for a while. */
function linkOf(
  { follow }: TrackingRoutes,
  request: OrderRequest,
  { id }: OrderPageView,
): KeptLink {
  const token = accessIn(request)
  const page = `${follow.site.url}${orderPagePath(id)}`
  if (token?.startsWith('kat_')) return { url: `${page}#${token}` }
  // A link token ends when it was said to: whoever came by one is not given another.
  const days = daysLeftOf(follow, token)
  if (days !== undefined) return { url: `${page}#${token}`, days }
  return { url: `${page}#${linkToken(follow, id)}`, days: linkTokenDays }
}

/** Takes what opens the order, and remembers it for this browser. */
async function open(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
  const { follow } = routes
  const typed = formIn(request).get('token') ?? ''
  const { orderId } = request.params
  const token = readToken(typed) ?? (await linkTokenFor(request, routes))
  const view = await viewOf(follow, orderId, { token }, request.log)
  if (token === undefined || view.own === undefined) {
    return sendOrder(reply.code(422), routes, request, view, {
      refused: { typed, isOld: isOutdatedLinkToken(follow, token, view.id) },
    })
  }
  const isSecure = follow.site.url.startsWith('https:')
  rememberOrder(reply, { orderId: view.id, checkout: view.checkout, token, isSecure })
  return privately(reply).redirect(orderPagePath(view.id), 303)
}

/** A link token for whoever shows the code of the order, or the key that it was bought with. */
async function linkTokenFor(request: OrderRequest, { follow }: TrackingRoutes) {
  const { orderId } = request.params
  if (!isOrderId(orderId)) return undefined
  const form = formIn(request)
  const key = form.get('key')
  if (key !== null) return linkTokenForKey(follow, orderId, key, request.log)
  return linkTokenForCode(follow, orderId, form.get('token') ?? '')
}

/** The goods, when their owner has pressed the button; they are in no page before. */
async function show(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
  const credentials = pageCredentialsOf(request)
  const { orderId } = request.params
  const shown = await goodsFor(routes.follow, orderId, credentials, request.log)
  const view = await look(routes, request)
  const status = { goods: 200, locked: 403, not_yet: 409, never: 410 }[shown.type]
  return sendOrder(reply.code(status), routes, request, view, { shown })
}

async function mail(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  if (isFromElsewhere(request)) return sayElsewhere(reply, routes)
  const said = await sendMail(request, reply, routes)
  const view = await look(routes, request)
  return sendOrder(reply, routes, request, view, { mail: said })
}

export function sayElsewhere(reply: FastifyReply, routes: TrackingRoutes) {
  const { t } = routes.frame
  return sendPrivately(reply.code(403), routes, messagePage(titled(t, 'orders.elsewhere'), t))
}
