import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { keyOf } from '../../api/buying/credentials.ts'
import { refundClaimed } from '../../api/orders/refund.ts'
import type { OrderPageView, OwnOrderView, RefundView } from '../../api/tracking/order-view.ts'
import { clientKeyOf } from '../../http/gate.ts'
import { Refusal, rules } from '../../lib/refusal.ts'
import type { PayBackFault } from '../../payments/payment.ts'
import { type Html, html } from '../frame/html.ts'
import { copied, fact, timeOf } from '../frame/parts.ts'
import { withRetryAfter } from '../frame/senders.ts'
import { orderPagePath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { formIn } from '../visitor.ts'
import { paidText, transactionOf } from './parts.ts'
import { look, type OrderRequest, type TrackingRoutes } from './tracking.ts'

/** `tooOften` until `again`; `none` where there is no refund, which the page says itself. */
export type RefundAnswer =
  | { readonly type: 'taken' | 'none' }
  | { readonly type: 'tooOften'; readonly seconds: number }

/** Claims the refund again. The page explains every result. */
export async function claimRefund(
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
    const asked = whyNotTaken(error)
    if (asked === undefined) throw error
    withRetryAfter(reply.code(rules[error.code].status), error.details)
    return asked
  }
}

function whyNotTaken({ code, details }: Refusal): RefundAnswer | undefined {
  if (code === 'not_refundable') return { type: 'none' }
  if (code !== 'budget_spent') return undefined
  return { type: 'tooOften', seconds: details.retryAfterSeconds ?? 60 }
}

/** The fault of a refund that nobody at the store can send: the issuer of USDC has blocked the wallet that paid. */
const blockedByIssuer: PayBackFault = 'payer_blacklisted'

/** How far a refund is; while it is stuck, with the form that tries it again, which can pay nothing twice. */
export function refundPart(
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
