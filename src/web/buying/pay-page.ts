import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Bought } from '../../api/bought.ts'
import type { CheckoutService, CheckoutView } from '../../api/checkout.ts'
import type { OrderTrackingDeps } from '../../api/tracking/deps.ts'
import { linkTokenForCode } from '../../api/tracking/recovery.ts'
import { withoutLinkToken } from '../../api/tracking/tokens.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { isVoid, type Return } from '../../checkouts/checkout.ts'
import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { copied, fact, timeTag } from '../frame/parts.ts'
import { privately, sayPrivately, sendPrivately } from '../frame/private-page.ts'
import { routeLive } from '../live/live.ts'
import { liveMark, reloading } from '../live/mark.ts'
import { accessForm, lostBoth } from '../orders/access-form.ts'
import { boughtFacts, itemText } from '../orders/bought.ts'
import { recentMark } from '../orders/parts.ts'
import { returned } from '../orders/returns-part.ts'
import { buyPath, orderPagePath, payPath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { accessIn, readToken, rememberOrder } from '../visit/access.ts'
import { formIn, isFromElsewhere, routeForm } from '../visit/forms.ts'
import { buyPage } from './buy-page.ts'
import type { PayingDeps } from './deps.ts'
import { noFaults } from './faults.ts'
import { invoiceCard } from './invoice-card.ts'
import { untyped } from './typed.ts'

/** In bytes; a private link is shorter. */
const maxForm = 2 * 1_024

interface PayRoutes {
  readonly frame: Frame
  readonly deps: WebDeps &
    PayingDeps & { readonly checkout: CheckoutService; readonly follow: OrderTrackingDeps }
}

type PayRequest = FastifyRequest<{ Params: { id: string } }>

/** The page of a payment, its live updates, and the form that opens it again with its private link. */
export function routePaying(pages: FastifyInstance, routes: PayRoutes): void {
  const { deps } = routes
  const config = { limit: 'reading' } as const
  pages.get('/pay/:id', { config }, async (request: PayRequest, reply) => {
    const token = accessIn(request)
    const view = await deps.checkout.view(request.params.id, token, request.log)
    if (view === undefined) return notFound(reply, routes)
    // The page of the order shows the rest, unless this page still follows a return.
    const isOver = view.isOwner && view.stage === 'paid' && view.returns.length === 0
    return isOver
      ? privately(reply).redirect(orderPagePath(view.orderId), 303)
      : show(reply, routes, view, token)
  })
  const takes = { config, bodyLimit: maxForm }
  routeForm(pages, '/pay/:id/open', takes, (request: PayRequest, reply) =>
    open(request, reply, routes),
  )
  pages.get('/pay/:id/change', { config }, (request: PayRequest, reply) =>
    change(request, reply, routes),
  )
  routeLive(pages, '/pay/:id', async (request) => {
    const { id } = request.params as PayRequest['params']
    return (await deps.checkout.view(id, accessIn(request), request.log))?.version ?? 'none'
  })
}

/** The form of the offer with what was sent, for changes. Sent again, it starts another payment. */
async function change(request: PayRequest, reply: FastifyReply, routes: PayRoutes) {
  const { deps, frame } = routes
  const { id } = request.params
  const sent = await deps.checkout.sent(id, accessIn(request), request.log)
  const offer = sent && deps.liveCatalog.current().find(sent.offerId)
  if (!sent || !offer) return privately(reply).redirect(payPath(encodeURIComponent(id)), 303)
  const { methods } = deps.checkout
  const { fields, coin, refundTo } = sent
  const blank = untyped(retailOf(offer, deps.pricing), deps.pricing.markupBps, methods)
  const typed = { ...blank, fields, pay: coin, refundTo: { [coin]: refundTo } }
  const again = { type: 'again', status: 200, typed, faults: noFaults } as const
  return sendPrivately(reply, frame, buyPage(offer, deps, again))
}

/** Opens the payment, and later the order, in this browser, for a visitor with the token or the recovery code. */
async function open(request: PayRequest, reply: FastifyReply, routes: PayRoutes) {
  const { deps } = routes
  const { id } = request.params
  if (isFromElsewhere(request)) return sayPrivately(reply.code(403), routes.frame, 'form.elsewhere')
  const typed = formIn(request).get('token') ?? ''
  const seen = await deps.checkout.view(id, readToken(typed), request.log)
  if (seen === undefined) return notFound(reply, routes)
  const { orderId } = seen
  const token = seen.isOwner ? readToken(typed) : linkTokenForCode(deps.follow, orderId, typed)
  if (token === undefined) return show(reply.code(422), routes, seen, undefined, true)
  rememberOrder(reply, { orderId, checkout: seen.id, token, siteUrl: deps.site.url })
  return privately(reply).redirect(payPath(seen.id), 303)
}

function show(
  reply: FastifyReply,
  routes: PayRoutes,
  view: CheckoutView,
  token: string | undefined,
  isTokenWrong = false,
) {
  const { deps, frame } = routes
  // A visitor with a link token, which expires, is not given the token that opens the payment for good.
  const { token: shown } = withoutLinkToken({ token })
  const isShown = view.isOwner && shown !== undefined
  const page = payPage(view, {
    t: deps.t,
    privateLink: isShown ? `${deps.site.url}${payPath(view.id)}#${shown}` : undefined,
    code: isShown ? deps.recoveryCode?.(view.orderId) : undefined,
    contact: deps.site.contact,
    isTokenWrong,
    sandboxUrl: view.invoice && deps.sandboxPayUrl?.(view.invoice.id),
  })
  return sendPrivately(reply, frame, page)
}

function notFound(reply: FastifyReply, { frame }: PayRoutes) {
  return sayPrivately(reply.code(404), frame, 'pay.notFound')
}

/** Everything that the page of a payment needs besides the payment. */
interface PayShown {
  readonly t: Texts
  /** The private link; only where the visitor has shown the token. */
  readonly privateLink: string | undefined
  /** The recovery code, which opens the order without the link; likewise. */
  readonly code?: string | undefined
  /** The mail address of the store. */
  readonly contact: string
  /** Whether the visitor just pasted a link or a code that does not open the payment. */
  readonly isTokenWrong?: boolean
  /** Only in the sandbox: the page that pays this invoice with test money. */
  readonly sandboxUrl?: string | undefined
}

/** Stages after which this page does not change. */
const finished: ReadonlySet<CheckoutView['stage']> = new Set(['refused', 'paid'])

/** Stages in which the page asks for money. */
const asking: ReadonlySet<CheckoutView['stage']> = new Set(['waiting', 'partly_paid'])

/** Stages that no longer lead to an order. */
const over: ReadonlySet<CheckoutView['stage']> = new Set(['refused', 'expired'])

/** The page of one payment in a coin. */
function payPage(view: CheckoutView, shown: PayShown): Page {
  const { t } = shown
  const { title, text, say } = wordsFor(view, t)
  const isFinished = finished.has(view.stage) && !view.returns.some(isUnderWay)
  const page = payPath(view.id)
  const mark = { version: view.version, at: `${page}/live`, page, say, isFinished }
  return {
    title: view.isOwner ? `${title} · ${view.brandName}` : title,
    description: t('pay.about'),
    scripts: ['live.js', 'open.js', 'copy.js', 'countdown.js', 'recent.js'],
    // A reload would lose what a visitor pastes into the page.
    ...reloading(page, view.isOwner && !isFinished),
    main: html`<div class="paying"${liveMark(mark)}${view.bought && recentMark(view.orderId, view.bought, view.startedAt)}>
<h1>${title}</h1>
<p class="lead">${text}</p>
${view.bought && boughtPart(view, view.bought, t)}
${view.isOwner ? ownPart(view, shown) : foreignPart(view, shown)}
</div>`,
  }
}

/** Visitors without the token see no address, so they are told the state and not what to pay. */
function wordsFor({ stage, isOwner, abilities }: CheckoutView, t: Texts) {
  if (!isOwner) {
    const state = t(`pay.stages.${stage}.state`)
    return { title: t('pay.foreignHeading'), text: state, say: state }
  }
  const isUnseen = stage === 'expired' && !abilities.isSeenLate
  return {
    title: t(`pay.stages.${stage}.title`),
    text: isUnseen
      ? t('pay.expiredUnseen')
      : t(`pay.stages.${stage}.text`, { least: formatUsdc(maxKept) }),
    say: t(`pay.stages.${stage}.say`),
  }
}

function ownPart(view: CheckoutView, shown: PayShown): Html {
  const { t } = shown
  const { invoice, stage } = view
  return html`${invoice && asking.has(stage) && invoiceCard(view, invoice, t, shown.sandboxUrl)}
${nextStep(view, t)}
${returnsOf(view, t)}
${shown.privateLink && stage !== 'refused' && keepLink(shown.privateLink, shown.code, { stage, t })}
${invoice && asking.has(stage) && troubles(invoice.watchedUntil, view.abilities, t)}
${factsOf(view, t)}`
}

/** What is bought, above the amount to send: the buyer's last chance to see a mistake. */
function boughtPart(view: CheckoutView, bought: Bought, t: Texts): Html {
  const isOver = over.has(view.stage)
  return html`<section class="bought" aria-labelledby="bought">
<h2 id="bought">${isOver ? t('bought.titleOver') : t('bought.title')}</h2>
<p class="item">${itemText(bought, t)}</p>
<dl class="facts">
${boughtFacts(bought, t)}${fact(t('bought.price'), `${formatUsdc(view.amount)} USD`)}</dl>
${view.stage === 'waiting' && html`<p class="change"><a href="${payPath(view.id)}/change">${t('bought.change')}</a></p>`}
</section>`
}

/** The link that leads on from a stage in which nothing is to be paid. */
function nextStep({ stage, orderId, offerId }: CheckoutView, t: Texts): Html | undefined {
  if (stage === 'paid') {
    return html`<p class="act"><a class="button wide" href="${orderPagePath(orderId)}">${t('pay.toOrder')}</a></p>`
  }
  if (stage !== 'expired' && stage !== 'refused') return undefined
  const path = buyPath({ id: offerId as Parameters<typeof buyPath>[0]['id'] })
  return html`<p class="act"><a class="button wide" href="${path}">${t('pay.again')}</a></p>`
}

/** Shown before anything is paid: a buyer who loses this page gets back to it with this link. */
function keepLink(
  link: string,
  code: string | undefined,
  { stage, t }: { readonly stage: CheckoutView['stage']; readonly t: Texts },
): Html {
  return html`<section class="keep" aria-labelledby="keep">
<h2 id="keep">${t('pay.keepTitle')}</h2>
<p>${over.has(stage) ? t('pay.keepOver') : t('pay.keep')}</p>
${copied('link', link, t('pay.tokenLabel'), t)}
${code && html`<p>${t('orders.keep.code')} ${copied('recovery-code', code, t('orders.keep.codeLabel'), t)}</p>`}
</section>`
}

function troubles(
  watchedUntil: Date,
  { isSent, isSeenLate }: CheckoutView['abilities'],
  t: Texts,
): Html {
  return html`<details class="troubles"><summary>${t('pay.detailsTitle')}</summary>
<ul>
<li>${t('pay.less')}</li>
<li>${t('pay.more')}</li>
<li>${isSeenLate ? t('pay.late', timeTag(watchedUntil, t)) : t('pay.lateUnseen')}</li>
<li>${isSent ? t('pay.fees') : t('pay.byHand')}</li>
<li>${t('pay.small', { most: formatUsdc(maxKept) })}</li>
</ul>
</details>`
}

function returnsOf({ returns, coin }: CheckoutView, t: Texts): Html | undefined {
  if (returns.length === 0) return undefined
  return html`<section class="returns" aria-labelledby="returns">
<h2 id="returns">${t('pay.backTitle')}</h2>
<ul>
${returns.map(
  (one) => html`<li>${returned(one, coin, t)}</li>
`,
)}</ul>
</section>`
}

function isUnderWay(one: Return): boolean {
  return one.payout.state !== 'CONFIRMED' && !isVoid(one)
}

function factsOf({ id, refundTo }: CheckoutView, t: Texts): Html {
  return html`<dl class="facts">
${fact(t('pay.backTo'), refundTo && copied('back-to', refundTo, t('pay.backTo'), t))}${fact(t('pay.number'), copied('payment', id, t('pay.number'), t))}</dl>`
}

/** What a visitor sees without the private link: the state of the payment, and a field for the link. */
function foreignPart({ id }: CheckoutView, { t, contact, isTokenWrong }: PayShown): Html {
  const fault = isTokenWrong ? t('orders.locked.wrong') : undefined
  return html`<section aria-labelledby="foreign">
<h2 id="foreign">${t('pay.foreignTitle')}</h2>
<p>${t('pay.foreign')}</p>
${accessForm({ action: `${payPath(id)}/open`, fault }, t)}
${lostBoth(contact, id, t)}
</section>`
}
