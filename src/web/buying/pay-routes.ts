import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutDesk, CheckoutView } from '../../desk/checkout/desk.ts'
import type { WebDeps } from '../frame/deps.ts'
import { document, type Frame, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { pageHeaders } from '../frame/page-headers.ts'
import { routeLive } from '../live/live.ts'
import { accessIn, readToken, rememberAccess } from '../visit/access.ts'
import { formIn, isFromElsewhere } from '../visit/forms.ts'
import { orderPagePath, payPath } from '../visit/paths.ts'
import { privately } from '../visit/privately.ts'
import type { PayingDeps } from './deps.ts'
import { payPage } from './pay-page.ts'

/** A private link is shorter. */
const formMost = 2 * 1_024

export interface PayRoutes {
  readonly frame: Frame
  readonly deps: WebDeps & PayingDeps & { readonly checkout: CheckoutDesk }
  readonly scriptUrls: readonly string[]
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
    const view = await deps.checkout.view(request.params.id, token)
    if (view === undefined) return notFound(reply, own)
    // What is left to see is with the order, unless some of the money goes back from here.
    const isOver = view.isOwner && view.stage === 'paid' && view.returns.length === 0
    return isOver
      ? privately(reply).redirect(orderPagePath(view.orderId), 303)
      : show(reply, own, view, token)
  })
  pages.post('/pay/:id/open', { config, bodyLimit: formMost }, (request: PayRequest, reply) =>
    open(request, reply, own),
  )
  routeLive(pages, '/pay/:id', async (request) => {
    const { id } = request.params as PayRequest['params']
    return (await deps.checkout.view(id, accessIn(request)))?.version ?? 'none'
  })
}

/** Lets this browser see the payment, and later the order, when it brings the token. */
async function open(request: PayRequest, reply: FastifyReply, routes: PayRoutes) {
  const { deps } = routes
  const { id } = request.params
  if (isFromElsewhere(request)) {
    return send(reply.code(403), routes, messagePage(deps.texts.form.elsewhere, deps.texts))
  }
  const token = readToken(formIn(request).get('token'))
  const view = await deps.checkout.view(id, token)
  if (view === undefined) return notFound(reply, routes)
  if (token === undefined || !view.isOwner)
    return show(reply.code(422), routes, view, undefined, true)
  const isSecure = deps.site.url.startsWith('https:')
  for (const path of [payPath(view.id), orderPagePath(view.orderId)]) {
    rememberAccess(reply, { path, token, isSecure })
  }
  return privately(reply).redirect(payPath(view.id), 303)
}

function show(
  reply: FastifyReply,
  routes: PayRoutes,
  view: CheckoutView,
  token: string | undefined,
  isTokenWrong = false,
) {
  const { deps, scriptUrls } = routes
  const isShown = view.isOwner && token !== undefined
  const page = payPage(view, {
    texts: deps.texts,
    privateLink: isShown ? `${deps.site.url}${payPath(view.id)}#${token}` : undefined,
    isTokenWrong,
    sandboxUrl: view.invoice && deps.sandboxPayUrl?.(view.invoice.id),
    scriptUrls,
  })
  return send(reply, routes, page)
}

function notFound(reply: FastifyReply, routes: PayRoutes) {
  const { texts } = routes.deps
  return send(reply.code(404), routes, messagePage(texts.pay.notFound, texts))
}

function send(reply: FastifyReply, { frame }: PayRoutes, page: Page) {
  return privately(reply)
    .headers(pageHeaders([], { sendsForm: true, asksUs: true }))
    .type('text/html; charset=utf-8')
    .send(document(frame, page))
}
