import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutService, CheckoutView } from '../../api/checkout/service.ts'
import type { OrderTrackingDeps } from '../../api/tracking/deps.ts'
import { linkTokenForCode } from '../../api/tracking/recovery.ts'
import { withoutLinkToken } from '../../api/tracking/tokens.ts'
import { retailOf } from '../../catalog/pricing.ts'
import type { WebDeps } from '../frame/deps.ts'
import { document, type Frame, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { pageHeaders } from '../frame/page-headers.ts'
import { routeLive } from '../live/live.ts'
import { titled } from '../texts/texts.ts'
import { accessIn, readToken, rememberOrder } from '../visit/access.ts'
import { formIn, isFromElsewhere, routeForm } from '../visit/forms.ts'
import { orderPagePath, payPath } from '../visit/paths.ts'
import { privately } from '../visit/privately.ts'
import { buyPage } from './buy-page.ts'
import type { PayingDeps } from './deps.ts'
import { noFaults } from './faults.ts'
import { payPage } from './pay-page.ts'
import { untyped } from './typed.ts'

/** A private link is shorter. */
const maxForm = 2 * 1_024

export interface PayRoutes {
  readonly frame: Frame
  readonly deps: WebDeps &
    PayingDeps & { readonly checkout: CheckoutService; readonly follow: OrderTrackingDeps }
  readonly scriptUrls: readonly string[]
  /** Those of the form of an offer. */
  readonly formScriptUrls: readonly string[]
}

type PayRequest = FastifyRequest<{ Params: { id: string } }>

/** The page of a payment, what keeps it alive, and what opens it again for whoever kept its link. */
export function routePaying(pages: FastifyInstance, routes: PayRoutes): void {
  // An operator's logo may come from another host, which need not hear of these pages.
  const { frame, deps } = routes
  const own = { ...routes, frame: { ...frame, site: { ...frame.site, logo: '/logo.svg' } } }
  const config = { limit: 'reading' } as const
  pages.get('/pay/:id', { config }, async (request: PayRequest, reply) => {
    const token = accessIn(request)
    const view = await deps.checkout.view(request.params.id, token, request.log)
    if (view === undefined) return notFound(reply, own)
    // What is left to see is with the order, unless some of the money goes back from here.
    const isOver = view.isOwner && view.stage === 'paid' && view.returns.length === 0
    return isOver
      ? privately(reply).redirect(orderPagePath(view.orderId), 303)
      : show(reply, own, view, token)
  })
  const takes = { config, bodyLimit: maxForm }
  routeForm(pages, '/pay/:id/open', takes, (request: PayRequest, reply) =>
    open(request, reply, own),
  )
  pages.get('/pay/:id/change', { config }, (request: PayRequest, reply) =>
    change(request, reply, own),
  )
  routeLive(pages, '/pay/:id', async (request) => {
    const { id } = request.params as PayRequest['params']
    return (await deps.checkout.view(id, accessIn(request), request.log))?.version ?? 'none'
  })
}

/** The form of the offer as it was sent, to be changed; what it starts is another payment. */
async function change(request: PayRequest, reply: FastifyReply, routes: PayRoutes) {
  const { deps, formScriptUrls: scriptUrls } = routes
  const { id } = request.params
  const sent = await deps.checkout.sent(id, accessIn(request), request.log)
  const offer = sent && deps.liveCatalog.current().find(sent.offerId)
  if (!sent || !offer) return privately(reply).redirect(payPath(encodeURIComponent(id)), 303)
  const { methods } = deps.checkout
  const { fields, coin, refundTo } = sent
  const blank = untyped(retailOf(offer, deps.pricing), deps.pricing.markupBps, methods)
  const typed = { ...blank, fields, pay: coin, refundTo: { [coin]: refundTo } }
  const again = { type: 'again', status: 200, typed, faults: noFaults } as const
  return send(reply, routes, buyPage(offer, deps, { scriptUrls, again }))
}

/** Lets this browser see the payment, and later the order, when it brings the token or the code. */
async function open(request: PayRequest, reply: FastifyReply, routes: PayRoutes) {
  const { deps } = routes
  const { id } = request.params
  if (isFromElsewhere(request)) {
    return send(reply.code(403), routes, messagePage(titled(deps.t, 'form.elsewhere'), deps.t))
  }
  const typed = formIn(request).get('token') ?? ''
  const seen = await deps.checkout.view(id, readToken(typed), request.log)
  if (seen === undefined) return notFound(reply, routes)
  const { orderId } = seen
  const token = seen.isOwner ? readToken(typed) : linkTokenForCode(deps.follow, orderId, typed)
  if (token === undefined) return show(reply.code(422), routes, seen, undefined, true)
  const isSecure = deps.site.url.startsWith('https:')
  rememberOrder(reply, { orderId, checkout: seen.id, token, isSecure })
  return privately(reply).redirect(payPath(seen.id), 303)
}

function show(
  reply: FastifyReply,
  routes: PayRoutes,
  view: CheckoutView,
  token: string | undefined,
  isTokenWrong = false,
) {
  const { deps, scriptUrls } = routes
  // Whoever came by a link token, which ends, is not given what opens the payment for good.
  const { token: shown } = withoutLinkToken({ token })
  const isShown = view.isOwner && shown !== undefined
  const page = payPage(view, {
    t: deps.t,
    privateLink: isShown ? `${deps.site.url}${payPath(view.id)}#${shown}` : undefined,
    code: isShown ? deps.recoveryCode?.(view.orderId) : undefined,
    contact: deps.site.contact,
    isTokenWrong,
    sandboxUrl: view.invoice && deps.sandboxPayUrl?.(view.invoice.id),
    scriptUrls,
  })
  return send(reply, routes, page)
}

function notFound(reply: FastifyReply, routes: PayRoutes) {
  const { t } = routes.deps
  return send(reply.code(404), routes, messagePage(titled(t, 'pay.notFound'), t))
}

function send(reply: FastifyReply, { frame }: PayRoutes, page: Page) {
  return privately(reply)
    .headers(pageHeaders([], { sendsForm: true, drawsPictures: true, asksUs: true }))
    .type('text/html; charset=utf-8')
    .send(document(frame, page))
}
