import type { OrderPageView, OwnOrderView, RefundView } from '../../api/tracking/order-view.ts'
import type { PayBackFault } from '../../payments/pay-back-faults.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { timeOf } from '../frame/time-of.ts'
import { liveMark, reloading } from '../live/mark.ts'
import type { Texts } from '../texts/en.ts'
import { orderPagePath } from '../visit/paths.ts'
import { isRefunding } from './order-page.ts'
import { fact, paidText, transactionOf } from './parts.ts'
import { returnsPart } from './returns-part.ts'
import { stationsOf, timeline } from './timeline.ts'

/** Why a refund waits that no one at the store can send: USDC blocks the wallet that it goes to. */
const blockedByIssuer: PayBackFault = 'payer_blacklisted'

/** `tooOften` until `again`; `none` where there is no refund, which the page says itself. */
export type RefundAnswer =
  | { readonly type: 'taken' | 'none' }
  | { readonly type: 'tooOften'; readonly seconds: number }

export interface RefundPageParts {
  readonly texts: Texts
  readonly scriptUrls: readonly string[]
  /** Names one asking, so that a form sent twice asks once. */
  readonly formKey: string
  /** What became of asking, where this is the answer to it. */
  readonly asked?: RefundAnswer | undefined
}

/** Where the money of one order is. */
export function refundPage(view: OrderPageView, parts: RefundPageParts): Page {
  const { texts, scriptUrls, asked } = parts
  const { orders } = texts
  const heading = headingOf(view, texts)
  const isFinished = view.isFinished
  const order = orderPagePath(view.id)
  const page = `${order}/refund`
  const say = `${heading.title}. ${heading.text}`
  const mark = { version: view.version, at: `${order}/live`, page, say, isFinished }
  return {
    title: heading.title,
    description: orders.refund.description,
    ...reloading(page, !isFinished),
    main: html`<div class="following"${liveMark(mark)}>
<section class="stage ${view.stage}" aria-labelledby="stage">
<p class="which">${orders.order} <code>${view.id}</code></p>
<h1 id="stage">${heading.title}</h1>
<p class="lead">${heading.text}</p>
${asked?.type === 'tooOften' && html`<p class="wrong" role="alert">${orders.refund.tooOften(Math.ceil(asked.seconds / 60))}</p>`}
${isRefunding(view) && timeline(stationsOf(view, texts), texts)}
<p class="about-refund"><a href="${order}">${orders.refund.back}</a></p>
</section>
${view.own ? ownParts(view, view.own, parts) : isRefunding(view) && html`<p class="hint">${orders.refund.lockedText}</p>`}
</div>
${scriptUrls.map((url) => html`<script type="module" src="${url}"></script>`)}`,
  }
}

function headingOf(view: OrderPageView, { orders }: Texts) {
  const { stage, own } = view
  if (isRefunding(view) || stage === 'not_taken') return orders.stages[stage]
  const { refund } = orders
  if (own && own.returns.length > 0) return { title: refund.returnsTitle, text: refund.returnsText }
  if (stage === 'delivered') return { title: refund.none, text: refund.delivered }
  return { title: refund.none, text: stage === 'not_paid' ? refund.noneText : refund.underWay }
}

function ownParts(view: OrderPageView, own: OwnOrderView, parts: RefundPageParts): Html {
  const { texts } = parts
  return html`${own.refund && moneyPart(view, own, own.refund, texts)}
${view.stage === 'refund_stuck' && askPart(view.id, parts)}
${returnsPart(view, own, texts)}`
}

function moneyPart(view: OrderPageView, own: OwnOrderView, refund: RefundView, texts: Texts): Html {
  const { orders } = texts
  const words = orders.refund
  const { sent } = refund
  return html`<section class="sheet" aria-labelledby="money">
<h2 id="money">${words.title}</h2>
<dl class="facts">
${fact(words.amount, paidText(view, own, texts))}${fact(sent ? words.wentTo : words.to, copied('refund-to', refund.to, words.to, texts))}${fact(orders.paidWith, orders.onNetwork(view.coin ?? 'USDC', view.network))}${fact(words.why, view.why && orders.why[view.why])}${fact(words.started, timeOf(refund.startedAt, texts))}${fact(words.sent, sent && timeOf(sent.at, texts))}${fact(words.transaction, sent && transactionOf('refund-transaction', sent, words.transaction, texts))}
</dl>
${refund.stuck?.code === blockedByIssuer ? html`<p class="wrong">${words.blocked}</p>` : html`<p class="hint">${words.by}</p>`}
</section>`
}

/** Asking again starts the same refund once more, so nothing can be paid twice by it. */
function askPart(id: string, { formKey, asked, texts }: RefundPageParts): Html {
  const { refund } = texts.orders
  return html`<section class="sheet" aria-labelledby="ask">
<h2 id="ask">${refund.ask}</h2>
<p>${refund.askText}</p>
${asked?.type === 'taken' && html`<p class="good" role="status">${refund.asked}</p>`}
<form method="post" action="${orderPagePath(id)}/refund">
<input type="hidden" name="key" value="${formKey}">
<p class="act"><button class="button" type="submit">${refund.ask}</button></p>
</form>
</section>`
}
