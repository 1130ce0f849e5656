import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { keyOf } from '../../api/buying/credentials.ts'
import { refundClaimed } from '../../api/orders/refund.ts'
import type { OrderPageView, OwnOrderView, RefundView } from '../../api/tracking/order-view.ts'
import { clientKeyOf } from '../../http/gate.ts'
import { Refusal, rules } from '../../lib/refusal.ts'
import type { PayBackFault } from '../../payments/pay-back-faults.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { copied, fact, timeOf } from '../frame/parts.ts'
import { privately, sendPrivately, withRetryAfter } from '../frame/senders.ts'
import { followed, isShown, orderPagePath, reloading } from '../paths.ts'
import { coinOn } from '../shop/money-text.ts'
import { type Texts, titled } from '../texts/texts.ts'
import { formIn } from '../visitor.ts'
import { isRefunding, paidText, returnsPart, timeline, transactionOf } from './parts.ts'
import {
  acts,
  look,
  type OrderRequest,
  reads,
  type TrackingRoutes,
  trackingScripts,
} from './tracking.ts'

const path = '/orders/:orderId/refund'

export function routeRefundPage(pages: FastifyInstance, routes: TrackingRoutes): void {
  const send = (reply: FastifyReply, view: OrderPageView, asked?: RefundAnswer) => {
    const { frame } = routes
    const page = refundPage(view, { t: frame.t, formKey: randomUUID(), asked })
    return sendPrivately(reply, frame, page)
  }
  pages.get(path, reads, async (request: OrderRequest, reply) => {
    const view = await look(routes, request)
    if (isShown(request, view.version)) return privately(reply).code(304).send()
    return send(reply, view)
  })
  pages.post(path, acts, async (request: OrderRequest, reply) => {
    const asked = await askForRefund(request, reply, routes)
    return send(reply, await look(routes, request), asked)
  })
}

/** Claims the refund. The page explains every result other than a refund under way. */
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

/** The fault of a refund that nobody at the store can send: the issuer of USDC has blocked the wallet that paid. */
const blockedByIssuer: PayBackFault = 'payer_blacklisted'

/** `tooOften` until `again`; `none` where there is no refund, which the page says itself. */
type RefundAnswer =
  | { readonly type: 'taken' | 'none' }
  | { readonly type: 'tooOften'; readonly seconds: number }

interface RefundPageParts {
  readonly t: Texts
  /** The idempotency key of the claim, so that a form sent twice claims once. */
  readonly formKey: string
  /** The result of asking for the refund again, if this page answers that form. */
  readonly asked?: RefundAnswer | undefined
}

export function refundPage(view: OrderPageView, parts: RefundPageParts): Page {
  const { t, asked } = parts
  const heading = headingOf(view, t)
  const isFinished = view.isFinished
  const order = orderPagePath(view.id)
  const page = `${order}/refund`
  const say = `${heading.title}. ${heading.text}`
  return {
    title: heading.title,
    description: t('orders.refund.description'),
    scripts: trackingScripts,
    ...reloading(page, !isFinished),
    main: html`<div class="following"${followed({ version: view.version, page, say, isFinished })}>
<section class="stage ${view.stage}" aria-labelledby="stage">
<p class="which">${t('orders.order')} <code>${view.id}</code></p>
<h1 id="stage">${heading.title}</h1>
<p class="lead">${heading.text}</p>
${asked?.type === 'tooOften' && html`<p class="wrong" role="alert">${t('orders.refund.tooOften', { minutes: Math.ceil(asked.seconds / 60) })}</p>`}
${isRefunding(view) && timeline(view, t)}
<p class="about-refund"><a href="${order}">${t('orders.refund.back')}</a></p>
</section>
${view.own ? ownParts(view, view.own, parts) : isRefunding(view) && html`<p class="hint">${t('orders.refund.lockedText')}</p>`}
</div>`,
  }
}

function headingOf(view: OrderPageView, t: Texts) {
  const { stage, own } = view
  if (isRefunding(view) || stage === 'not_taken') return titled(t, `orders.stages.${stage}`)
  if (own && own.returns.length > 0)
    return { title: t('orders.refund.returnsTitle'), text: t('orders.refund.returnsText') }
  if (stage === 'delivered')
    return { title: t('orders.refund.none'), text: t('orders.refund.delivered') }
  return {
    title: t('orders.refund.none'),
    text: stage === 'not_paid' ? t('orders.refund.noneText') : t('orders.refund.underWay'),
  }
}

function ownParts(view: OrderPageView, own: OwnOrderView, parts: RefundPageParts): Html {
  const { t } = parts
  return html`${own.refund && moneyPart(view, own, own.refund, t)}
${view.stage === 'refund_stuck' && askPart(view.id, parts)}
${returnsPart(view, own, t)}`
}

function moneyPart(view: OrderPageView, own: OwnOrderView, refund: RefundView, t: Texts): Html {
  const { sent } = refund
  return html`<section class="sheet" aria-labelledby="money">
<h2 id="money">${t('orders.refund.title')}</h2>
<dl class="facts">
${fact(t('orders.refund.amount'), paidText(view, own, t))}${fact(sent ? t('orders.refund.wentTo') : t('orders.refund.to'), copied('refund-to', refund.to, t('orders.refund.to'), t))}${fact(t('orders.paidWith'), coinOn(view.coin ?? 'USDC', view.network, t))}${fact(t('orders.refund.why'), view.why && t(`orders.why.${view.why}`))}${fact(t('orders.refund.started'), timeOf(refund.startedAt, t))}${fact(t('orders.refund.sent'), sent && timeOf(sent.at, t))}${fact(t('orders.refund.transaction'), sent && transactionOf('refund-transaction', sent, t('orders.refund.transaction'), t))}
</dl>
${refund.stuck?.code === blockedByIssuer ? html`<p class="wrong">${t('orders.refund.blocked')}</p>` : html`<p class="hint">${t('orders.refund.by')}</p>`}
</section>`
}

/** The form that retries the same refund, so nothing can be paid twice by it. */
function askPart(id: string, { formKey, asked, t }: RefundPageParts): Html {
  return html`<section class="sheet" aria-labelledby="ask">
<h2 id="ask">${t('orders.refund.ask')}</h2>
<p>${t('orders.refund.askText')}</p>
${asked?.type === 'taken' && html`<p class="good" role="status">${t('orders.refund.asked')}</p>`}
<form method="post" action="${orderPagePath(id)}/refund">
<input type="hidden" name="key" value="${formKey}">
<p class="act"><button class="button" type="submit">${t('orders.refund.ask')}</button></p>
</form>
</section>`
}
