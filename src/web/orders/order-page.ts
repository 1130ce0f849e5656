import type { GoodsShown } from '../../api/tracking/goods.ts'
import type { OrderPageView, OwnOrderView } from '../../api/tracking/order-view.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { timeOf } from '../frame/time-of.ts'
import { liveMark, reloading } from '../live/mark.ts'
import type { Texts } from '../texts/en.ts'
import { orderPagePath } from '../visit/paths.ts'
import { boughtFacts, itemText } from './bought.ts'
import { closedGoods, openGoods } from './goods-part.ts'
import { lockedPart, type Refused } from './locked-part.ts'
import { fact, paidText, transactionOf, wordsOf } from './parts.ts'
import { recentMark } from './recent-mark.ts'
import { returnsPart } from './returns-part.ts'
import { stationsOf, timeline } from './timeline.ts'

/** What a page of an order is made of, besides the order. */
export interface OrderPageParts {
  readonly texts: Texts
  readonly scriptUrls: readonly string[]
  /** Only where the order is open. */
  readonly privateLink?: KeptLink | undefined
  /** What opens the order besides, and can be written down. */
  readonly code?: string | undefined
  /** Where the store is written to. */
  readonly contact: string
  /** The goods, when the button was pressed. */
  readonly shown?: GoodsShown | undefined
  /** What was typed into the field for the link, and does not open the order. */
  readonly refused?: Refused | undefined
  /** Whether links can be asked for by mail. */
  readonly sendsMail?: boolean
  /** The form for a mail, where the store sends any. */
  readonly mail?: MailPart | undefined
}

/** A link that opens the order. */
export interface KeptLink {
  readonly url: string
  /** For how long; absent where it is for good. */
  readonly days?: number
}

export interface MailPart {
  readonly typed?: string
  readonly said?: 'sent' | 'failed' | 'wrong' | 'tooMany'
}

/** The page of one order: where it stands for everyone, and the goods for whoever bought them. */
export function orderPage(view: OrderPageView, parts: OrderPageParts): Page {
  const { texts, scriptUrls, shown } = parts
  const stage = wordsOf(view, texts)
  // What was asked for stays where it is: nothing that is shown now changes any more.
  const isFinished = view.isFinished || shown?.type === 'goods'
  const page = orderPagePath(view.id)
  const live = {
    version: view.version,
    at: `${page}/live`,
    page,
    say: `${stage.title}. ${stage.text}`,
    isFinished,
  }
  return {
    title: stage.title,
    description: texts.orders.description,
    ...reloading(page, !isFinished && !hasField(view, parts)),
    main: html`<div class="following"${liveMark(live)}${view.own && recentMark(view.id, view.own, view.times.placed)}>
<section class="stage ${view.stage}" aria-labelledby="stage">
<p class="which">${texts.orders.order} <code>${view.id}</code></p>
<h1 id="stage">${stage.title}</h1>
<p class="lead">${stage.text}</p>
${view.stage === 'awaiting_payment' && view.checkout && html`<p class="act"><a class="button" href="/pay/${view.checkout}">${texts.orders.pay}</a></p>`}
${timeline(stationsOf(view, texts), texts)}
${moneyBackLink(view, texts)}
${!isFinished && hasField(view, parts) && html`<noscript><p class="hint"><a href="${page}">${texts.orders.lookAgain}</a></p></noscript>`}
</section>
${view.own ? ownParts(view, view.own, parts) : lockedPart(view, parts)}
</div>
${scriptUrls.map((url) => html`<script type="module" src="${url}"></script>`)}`,
  }
}

/** Where some money goes back, of a delivered order too: it was more than the price. */
function moneyBackLink(view: OrderPageView, { orders: { refund } }: Texts): Html | undefined {
  const hasReturns = view.own !== undefined && view.own.returns.length > 0
  if (!isRefunding(view) && !hasReturns) return undefined
  return html`<p class="about-refund"><a href="${orderPagePath(view.id)}/refund">${isRefunding(view) ? refund.link : refund.returnsLink}</a></p>`
}

/** Whether something is typed into this page, which would be lost if it loaded itself again. */
function hasField(view: OrderPageView, { mail }: OrderPageParts): boolean {
  return view.own === undefined || mail !== undefined
}

export function isRefunding({ stage }: Pick<OrderPageView, 'stage'>): boolean {
  return stage.startsWith('refund')
}

function ownParts(view: OrderPageView, own: OwnOrderView, parts: OrderPageParts): Html {
  const { texts, privateLink, mail } = parts
  return html`${view.stage === 'delivered' && goodsPart(view, parts)}
${returnsPart(view, own, texts)}
${factsPart(view, own, texts)}
${privateLink && keepPart(privateLink, parts.code, texts)}
${mail && mailPart(view.id, mail, texts)}`
}

function goodsPart(view: OrderPageView, { shown, texts }: OrderPageParts): Html {
  return shown?.type === 'goods' ? openGoods(view, shown, texts) : closedGoods(view, texts)
}

function factsPart(view: OrderPageView, own: OwnOrderView, texts: Texts): Html {
  const { orders } = texts
  const asset = view.coin ?? 'USDC'
  return html`<section class="sheet" aria-labelledby="facts">
<h2 id="facts">${orders.facts}</h2>
<dl class="facts">
${fact(orders.item, itemText(own, texts))}${boughtFacts(own, texts)}${fact(orders.price, paidText(view, own, texts))}${fact(orders.paidWith, orders.onNetwork(asset, view.network))}${fact(orders.steps.paid, view.times.paid && timeOf(view.times.paid, texts))}${fact(orders.payment, own.payment && transactionOf('payment', own.payment, orders.payment, texts))}${fact(orders.order, copied('order-id', view.id, orders.order, texts))}
</dl>
${view.hasReceipt && html`<p class="receipt"><a href="${orderPagePath(view.id)}/receipt" download="receipt-${view.id}.json">${orders.receipt}</a> <small>${orders.receiptHint}</small></p>`}
</section>`
}

function keepPart({ url, days }: KeptLink, code: string | undefined, texts: Texts): Html {
  const { keep } = texts.orders
  return html`<section class="sheet private" aria-labelledby="keep">
<h2 id="keep">${keep.title}</h2>
<p>${days === undefined ? keep.text : keep.textFor(days)}</p>
<p class="link">${copied('private-link', url, keep.label, texts)}</p>
${code && html`<p>${keep.code} ${copied('recovery-code', code, keep.codeLabel, texts)}</p>`}
</section>`
}

function mailPart(id: string, { typed = '', said }: MailPart, { orders: { mail } }: Texts): Html {
  const isWrong = said === 'wrong'
  const about = said === undefined ? '' : 'mail-said '
  return html`<section class="sheet by-mail" aria-labelledby="by-mail">
<h2 id="by-mail">${mail.title}</h2>
<p id="mail-help">${mail.text}</p>
<form method="post" action="${orderPagePath(id)}/mail#by-mail">
<div class="field">
<label for="email">${mail.label}</label>
<input id="email" name="email" type="email" value="${typed}" required="required" autocomplete="email" maxlength="254" aria-describedby="${about}mail-help"${isWrong && html` aria-invalid="true"`}>
${said && html`<p class="${said === 'sent' ? 'good' : 'wrong'}" id="mail-said" role="status">${mail[said]}</p>`}
</div>
<p class="act"><button class="button quiet" type="submit">${mail.send}</button></p>
</form>
</section>`
}
