import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { keyOf } from '../../api/buying/credentials.ts'
import { receiptOf } from '../../api/orders/receipt.ts'
import { refundClaimed } from '../../api/orders/refund.ts'
import {
  type GoodsView,
  goodsFor,
  type OrderPageView,
  type OwnOrderView,
  type RefundView,
  viewOf,
} from '../../api/tracking/order-view.ts'
import {
  daysLeftOf,
  isOutdatedLinkToken,
  linkTokenForCode,
  linkTokenForKey,
} from '../../api/tracking/tokens.ts'
import { clientKeyOf } from '../../http/gate.ts'
import { isOrderId } from '../../lib/ids.ts'
import { Refusal, rules } from '../../lib/refusal.ts'
import { recoveryCodeOf } from '../../orders/finding.ts'
import type { PayBackFault } from '../../payments/payment.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { copied, fact, timeOf } from '../frame/parts.ts'
import { privately, sendPrivately, withRetryAfter } from '../frame/senders.ts'
import { followed, isUpToDate, orderPagePath, payPath, reloading } from '../paths.ts'
import { coinOn } from '../shop/money-text.ts'
import type { Texts } from '../texts/texts.ts'
import {
  accessIn,
  acts,
  formIn,
  readsOrders,
  readToken,
  rememberOrder,
  routeForm,
} from '../visitor.ts'
import { closedGoods, openGoods } from './goods.ts'
import { leaveMail, type MailPart, mailForm, takeMail } from './order-mail.ts'
import {
  boughtFacts,
  itemText,
  keepPart,
  lockedPart,
  paidText,
  type Refused,
  recentMark,
  returnsPart,
  stageTexts,
  timeline,
  transactionOf,
} from './parts.ts'
import { look, type OrderRequest, pageCredentialsOf, type TrackingRoutes } from './tracking.ts'

const at = '/orders/:orderId'

export function routeOrderPages(pages: FastifyInstance, routes: TrackingRoutes): void {
  const { follow } = routes
  pages.get(at, readsOrders, async (request: OrderRequest, reply) => {
    const view = await look(routes, request)
    if (isUpToDate(request, view.version)) return privately(reply).code(304).send()
    return sendOrder(reply, routes, request, view)
  })
  const forms = {
    open: [readsOrders, openOrder],
    goods: [readsOrders, showGoods],
    mail: [acts, mail],
    refund: [acts, refund],
  } as const
  for (const [name, [options, handle]] of Object.entries(forms)) {
    routeForm(pages, `${at}/${name}`, options, (request: OrderRequest, reply) =>
      handle(request, reply, routes),
    )
  }
  pages.get(`${at}/receipt`, readsOrders, async (request: OrderRequest, reply) => {
    const { orderId } = request.params
    const receipt = await receiptOf(follow, orderId, () => ({}))
    return privately(reply)
      .header('content-disposition', `attachment; filename="receipt-${orderId}.json"`)
      .send(receipt)
  })
}

type PageExtras = Pick<OrderPageParts, 'shown' | 'refused' | 'mail' | 'asked'>

function sendOrder(
  reply: FastifyReply,
  routes: TrackingRoutes,
  request: OrderRequest,
  view: OrderPageView,
  extras: PageExtras = {},
) {
  const { frame } = routes
  const { isLasting } = view
  const mayMail = routes.mail !== undefined && isLasting && view.times.paid
  const page = orderPage(view, {
    t: frame.t,
    contact: frame.site.contact,
    kept: view.own && keptPart(routes, request, view),
    ...extras,
    sendsMail: routes.mail !== undefined,
    mail: mayMail ? (extras.mail ?? {}) : undefined,
  })
  return sendPrivately(reply, routes.frame, page)
}

/** The link to keep, with the token that this visitor has; undefined if they have none. */
function keptPart(
  { follow, frame: { t } }: TrackingRoutes,
  request: OrderRequest,
  { id, isLasting }: OrderPageView,
): Html | undefined {
  const token = accessIn(request)
  const link = `${follow.site.url}${orderPagePath(id)}#${token}`
  if (isLasting) return keepPart(link, t('orders.keep.text'), recoveryCodeOf(follow, id), t)
  // A visitor with a link token or a session, which expire, gets no new one, nor the code that opens the order for good.
  const days = daysLeftOf(follow, token)
  if (days === undefined) return undefined
  return keepPart(link, t('orders.keep.textFor', { days }), undefined, t)
}

async function openOrder(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  const { follow } = routes
  const typed = formIn(request).get('token') ?? ''
  const { orderId } = request.params
  const token = readToken(typed) ?? (await linkTokenFor(request, routes))
  const view = await viewOf(follow, orderId, { token })
  if (token === undefined || view.own === undefined) {
    return sendOrder(reply.code(422), routes, request, view, {
      refused: { typed, isOld: isOutdatedLinkToken(follow, token, view.id) },
    })
  }
  const { id, checkout } = view
  rememberOrder(reply, { orderId: id, checkout, token, siteUrl: follow.site.url })
  return privately(reply).redirect(orderPagePath(view.id), 303)
}

/** A link token for a visitor who has the recovery code of the order, or the key that it was bought with. */
async function linkTokenFor(request: OrderRequest, { follow }: TrackingRoutes) {
  const { orderId } = request.params
  if (!isOrderId(orderId)) return undefined
  const form = formIn(request)
  const key = form.get('key')
  if (key !== null) return linkTokenForKey(follow, orderId, key)
  return linkTokenForCode(follow, orderId, form.get('token') ?? '')
}

/** Shows the goods once their owner has pressed the button; no page has them before. */
async function showGoods(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  const credentials = pageCredentialsOf(request)
  const { orderId } = request.params
  const shown = await goodsFor(routes.follow, orderId, credentials)
  const view = await look(routes, request)
  const status = { goods: 200, locked: 403, not_yet: 409, never: 410 }[shown.type]
  return sendOrder(reply.code(status), routes, request, view, { shown })
}

async function mail(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  const result = await takeMail(request, reply, routes, (address, mail) =>
    leaveMail(request, routes, mail, address),
  )
  return sendOrder(reply, routes, request, await look(routes, request), { mail: result })
}

type RefundAnswer =
  | { readonly type: 'taken' }
  | { readonly type: 'tooOften'; readonly seconds: number }

/** Claims the refund again. The page explains every result. */
async function refund(request: OrderRequest, reply: FastifyReply, routes: TrackingRoutes) {
  const key = keyOf(formIn(request).get('key') ?? '', 'key') ?? randomUUID()
  const { orderId } = request.params
  const client = clientKeyOf(request.ip)
  const isOwn = async () => (await look(routes, request)).own !== undefined
  const claimed = { orderId, key, fields: {}, client, isOwn }
  const asked = await refundClaimed(routes.follow, claimed).then(
    () => ({ type: 'taken' }) as const,
    (error: unknown) => whyNotTaken(error, reply),
  )
  return sendOrder(reply, routes, request, await look(routes, request), { asked })
}

/** Undefined where there is no refund, which the page says itself. */
function whyNotTaken(error: unknown, reply: FastifyReply): RefundAnswer | undefined {
  if (!(error instanceof Refusal)) throw error
  const { code, details } = error
  if (code !== 'not_refundable' && code !== 'budget_spent') throw error
  withRetryAfter(reply.code(rules[code].status), details)
  if (code === 'not_refundable') return undefined
  return { type: 'tooOften', seconds: details.retryAfterSeconds ?? 60 }
}

interface OrderPageParts {
  readonly t: Texts
  readonly kept?: Html | undefined
  readonly contact: string
  readonly shown?: GoodsView | undefined
  /** The link or code that was sent and does not open the order. */
  readonly refused?: Refused | undefined
  readonly sendsMail?: boolean
  /** The result of claiming the refund, if this page answers that form. */
  readonly asked?: RefundAnswer | undefined
  /** The form for a mail; absent if this visitor may not use it. */
  readonly mail?: MailPart | undefined
}

export function orderPage(view: OrderPageView, parts: OrderPageParts): Page {
  const { t, shown, asked } = parts
  const stage = stageTexts(view, t)
  // While the goods are shown, the page must not update itself, or they would disappear.
  const isFinished = view.isFinished || shown?.type === 'goods'
  const page = orderPagePath(view.id)
  const say = `${stage.title}. ${stage.text}`
  return {
    title: stage.title,
    description: t('orders.description'),
    scripts: ['follow.js', 'open.js', 'copy.js', 'recent.js'],
    ...reloading(page, !isFinished && !hasField(view, parts)),
    main: html`<div class="following"${followed({ version: view.version, page, say, isFinished })}${view.own && recentMark(view.id, view.own, view.times.placed)}>
<section class="stage ${view.stage}" aria-labelledby="stage">
<p class="which">${t('orders.order')} <code>${view.id}</code></p>
<h1 id="stage">${stage.title}</h1>
<p class="lead">${stage.text}</p>
${view.stage === 'awaiting_payment' && view.checkout && html`<p class="act"><a class="button" href="${payPath(view.checkout)}">${t('orders.pay')}</a></p>`}
${timeline(view, t)}
${asked?.type === 'tooOften' && html`<p class="wrong" role="alert">${t('orders.refund.tooOften', { minutes: Math.ceil(asked.seconds / 60) })}</p>`}
${!isFinished && hasField(view, parts) && html`<noscript><p class="hint"><a href="${page}">${t('orders.lookAgain')}</a></p></noscript>`}
</section>
${view.own ? ownParts(view, view.own, parts) : lockedPart(view, parts)}
</div>`,
  }
}

/** Whether the page has a text field, whose content a reload would lose. */
function hasField(view: OrderPageView, { mail }: OrderPageParts): boolean {
  return view.own === undefined || mail !== undefined
}

function ownParts(view: OrderPageView, own: OwnOrderView, parts: OrderPageParts): Html {
  const { t, kept, mail, asked, shown } = parts
  const hide = html`<p class="hide"><a href="${orderPagePath(view.id)}">${t('orders.goods.hide')}</a></p>`
  return html`${view.stage === 'delivered' && (shown?.type === 'goods' ? openGoods(shown, t, hide) : closedGoods(view, t))}
${own.refund && refundPart(view, own, own.refund, { asked, t })}
${returnsPart(view, own, t)}
${factsPart(view, own, t)}
${kept}
${mail && mailForm(`${orderPagePath(view.id)}/mail`, 'orders.mail', mail, t)}`
}

function factsPart(view: OrderPageView, own: OwnOrderView, t: Texts): Html {
  const asset = view.coin ?? 'USDC'
  return html`<section class="sheet" aria-labelledby="facts">
<h2 id="facts">${t('orders.facts')}</h2>
<dl class="facts">
${fact(t('orders.item'), itemText(own, t))}${boughtFacts(own, t)}${fact(t('orders.price'), paidText(view, own, t))}${fact(t('orders.paidWith'), coinOn(asset, view.network, t))}${fact(t('orders.steps.paid'), view.times.paid && timeOf(view.times.paid, t))}${fact(t('orders.payment'), own.payment && transactionOf('payment', own.payment, t('orders.payment'), t))}${fact(t('orders.order'), copied('order-id', view.id, t('orders.order'), t))}
</dl>
${view.hasReceipt && html`<p class="receipt"><a href="${orderPagePath(view.id)}/receipt" download="receipt-${view.id}.json">${t('orders.receipt')}</a> <small>${t('orders.receiptHint')}</small></p>`}
</section>`
}

/** The fault of a refund that nobody at the store can send: the issuer of USDC has blocked the wallet that paid. */
const blockedByIssuer: PayBackFault = 'payer_blacklisted'

/** How far a refund is; while it is stuck, with the form that tries it again, which can pay nothing twice. */
function refundPart(
  view: OrderPageView,
  own: OwnOrderView,
  refund: RefundView,
  { asked, t }: { readonly asked: RefundAnswer | undefined; readonly t: Texts },
): Html {
  const { sent, stuck, to, startedAt } = refund
  return html`<section class="sheet" aria-labelledby="refund">
<h2 id="refund">${t('orders.refund.title')}</h2>
<dl class="facts">
${fact(t('orders.refund.amount'), paidText(view, own, t))}${fact(sent ? t('orders.refund.wentTo') : t('orders.refund.to'), copied('refund-to', to, t('orders.refund.to'), t))}${fact(t('orders.refund.why'), view.why && t(`orders.why.${view.why}`))}${fact(t('orders.refund.started'), timeOf(startedAt, t))}${fact(t('orders.refund.sent'), sent && timeOf(sent.at, t))}${fact(t('orders.refund.transaction'), sent && transactionOf('refund-transaction', sent, t('orders.refund.transaction'), t))}
</dl>
${stuck?.code === blockedByIssuer ? html`<p class="wrong">${t('orders.refund.blocked')}</p>` : html`<p class="hint">${t('orders.refund.by')}</p>`}
${
  view.stage === 'refund_stuck' &&
  html`${asked?.type === 'taken' && html`<p class="good" role="status">${t('orders.refund.asked')}</p>`}
<form method="post" action="${orderPagePath(view.id)}/refund">
<input type="hidden" name="key" value="${randomUUID()}">
<p class="hint">${t('orders.refund.askText')}</p>
<p class="act"><button class="button" type="submit">${t('orders.refund.ask')}</button></p>
</form>`
}
</section>`
}
