import type { Bought } from '../../api/bought.ts'
import type { CheckoutView } from '../../api/checkout/service.ts'
import type { Return } from '../../checkouts/checkout.ts'
import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { timeOf } from '../frame/time-of.ts'
import { liveMark, reloading } from '../live/mark.ts'
import { boughtFacts, itemText } from '../orders/bought.ts'
import { fact, writeTo } from '../orders/parts.ts'
import { recentMark } from '../orders/recent-mark.ts'
import { returned } from '../orders/returned.ts'
import { buyPath } from '../shop/addresses.ts'
import type { Texts } from '../texts/en.ts'
import { orderPagePath, payPath } from '../visit/paths.ts'
import { attributesHtml } from './fields-html.ts'
import { invoiceCard } from './pay-invoice.ts'

/** What the page of a payment is made of besides the payment. */
export interface PayShown {
  readonly texts: Texts
  /** The private link; only where the visitor has shown the token. */
  readonly privateLink: string | undefined
  /** What opens the order without the link; likewise. */
  readonly code?: string | undefined
  /** Where the store is written to. */
  readonly contact: string
  /** Whether what was just pasted opens nothing. */
  readonly isTokenWrong?: boolean
  /** Only in the sandbox: where this invoice is paid with test money. */
  readonly sandboxUrl?: string | undefined
  readonly scriptUrls: readonly string[]
}

/** Stages in which nothing changes any more that this page shows. */
const finished: ReadonlySet<CheckoutView['stage']> = new Set(['refused', 'paid'])

/** Stages in which money is still asked for. */
const asking: ReadonlySet<CheckoutView['stage']> = new Set(['waiting', 'partly_paid'])

/** Stages from which no order comes any more. */
const over: ReadonlySet<CheckoutView['stage']> = new Set(['refused', 'expired'])

/** The page of one payment in a coin. */
export function payPage(view: CheckoutView, shown: PayShown): Page {
  const { texts, scriptUrls } = shown
  const { title, text, say } = wordsFor(view, texts)
  const isFinished = finished.has(view.stage) && !view.returns.some(isUnderWay)
  const page = payPath(view.id)
  const mark = { version: view.version, at: `${page}/live`, page, say, isFinished }
  return {
    title: view.isOwner ? `${title} · ${view.brandName}` : title,
    description: texts.pay.about,
    // Whoever has to paste something would lose it by a page that loads itself again.
    ...reloading(page, view.isOwner && !isFinished),
    main: html`<div class="paying"${liveMark(mark)}${view.bought && recentMark(view.orderId, view.bought, view.startedAt)}>
<h1>${title}</h1>
<p class="lead">${text}</p>
${view.bought && boughtPart(view, view.bought, texts)}
${view.isOwner ? ownPart(view, shown) : foreignPart(view, shown)}
</div>
${scriptUrls.map(
  (url) => html`<script type="module" src="${url}"></script>
`,
)}`,
  }
}

/** Whoever sees no address is not told to pay to it. */
function wordsFor({ stage, isOwner, abilities }: CheckoutView, { pay }: Texts) {
  const { title, say, state, ...words } = pay.stages[stage]
  const said = typeof words.text === 'string' ? words.text : words.text(formatUsdc(maxKept))
  const text = stage === 'expired' && !abilities.isSeenLate ? pay.expiredUnseen : said
  return isOwner ? { title, text, say } : { title: pay.foreignHeading, text: state, say: state }
}

function ownPart(view: CheckoutView, shown: PayShown): Html {
  const { texts } = shown
  const { invoice, stage } = view
  return html`${invoice && asking.has(stage) && invoiceCard(view, invoice, texts, shown.sandboxUrl)}
${nextStep(view, texts)}
${returnsOf(view, texts)}
${shown.privateLink && stage !== 'refused' && keepLink(shown.privateLink, shown.code, { stage, texts })}
${invoice && asking.has(stage) && troubles(invoice.watchedUntil, view.abilities, texts)}
${factsOf(view, texts)}`
}

/** What the money is for, above everything that may be sent: the last place where a mistake is seen. */
function boughtPart(view: CheckoutView, bought: Bought, texts: Texts): Html {
  const words = texts.bought
  const isOver = over.has(view.stage)
  return html`<section class="bought" aria-labelledby="bought">
<h2 id="bought">${isOver ? words.titleOver : words.title}</h2>
<p class="item">${itemText(bought, texts)}</p>
<dl class="facts">
${boughtFacts(bought, texts)}${fact(words.price, `${formatUsdc(view.amount)} USD`)}</dl>
${view.stage === 'waiting' && html`<p class="change"><a href="${payPath(view.id)}/change">${words.change}</a></p>`}
</section>`
}

/** Where to go from a stage that asks for nothing. */
function nextStep({ stage, orderId, offerId }: CheckoutView, { pay }: Texts): Html | undefined {
  if (stage === 'paid') {
    return html`<p class="act"><a class="button wide" href="${orderPagePath(orderId)}">${pay.toOrder}</a></p>`
  }
  if (stage !== 'expired' && stage !== 'refused') return undefined
  const path = buyPath({ id: offerId as Parameters<typeof buyPath>[0]['id'] })
  return html`<p class="act"><a class="button wide" href="${path}">${pay.again}</a></p>`
}

/** Shown before anything is paid: whoever loses this page finds back by it. */
function keepLink(
  link: string,
  code: string | undefined,
  { stage, texts }: { readonly stage: CheckoutView['stage']; readonly texts: Texts },
): Html {
  const { pay } = texts
  return html`<section class="keep" aria-labelledby="keep">
<h2 id="keep">${pay.keepTitle}</h2>
<p>${over.has(stage) ? pay.keepOver : pay.keep}</p>
${copied('link', link, pay.tokenLabel, texts)}
${code && html`<p>${texts.orders.keep.code} ${copied('recovery-code', code, texts.orders.keep.codeLabel, texts)}</p>`}
</section>`
}

function troubles(
  watchedUntil: Date,
  { isSent, isSeenLate }: CheckoutView['abilities'],
  texts: Texts,
): Html {
  const { pay } = texts
  return html`<details class="troubles"><summary>${pay.detailsTitle}</summary>
<ul>
<li>${pay.less}</li>
<li>${pay.more}</li>
<li>${isSeenLate ? html`${pay.late}${timeOf(watchedUntil, texts)}.` : pay.lateUnseen}</li>
<li>${isSent ? pay.fees : pay.byHand}</li>
<li>${pay.small(formatUsdc(maxKept))}</li>
</ul>
</details>`
}

function returnsOf({ returns, coin }: CheckoutView, texts: Texts): Html | undefined {
  if (returns.length === 0) return undefined
  return html`<section class="returns" aria-labelledby="returns">
<h2 id="returns">${texts.pay.backTitle}</h2>
<ul>
${returns.map(
  (one) => html`<li>${returned(one, coin, texts)}</li>
`,
)}</ul>
</section>`
}

function isUnderWay({ step }: Return): boolean {
  return step.type !== 'SENT'
}

function factsOf(view: CheckoutView, texts: Texts): Html {
  const { pay } = texts
  const facts = [
    [pay.backTo, view.refundTo && copied('back-to', view.refundTo, pay.backTo, texts)],
    [pay.number, copied('payment', view.id, pay.number, texts)],
  ] as const
  return html`<dl class="facts">
${facts.map(
  ([name, value]) =>
    value &&
    html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
)}</dl>`
}

/** Whoever has not shown that it is theirs sees how it stands, and may show it. */
function foreignPart(view: CheckoutView, shown: PayShown): Html {
  const { texts, contact, isTokenWrong = false } = shown
  const { pay } = texts
  const field = {
    id: 'token',
    name: 'token',
    type: 'text',
    required: 'required',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '600',
    'aria-describedby': 'token-fault',
    ...(isTokenWrong ? { 'aria-invalid': 'true', autofocus: 'autofocus' } : {}),
  }
  return html`<form class="foreign" method="post" action="${payPath(view.id)}/open" data-open="${payPath(view.id)}">
<h2>${pay.foreignTitle}</h2>
<p>${pay.foreign}</p>
<div class="field">
<label for="token">${texts.orders.locked.label}</label>
<p class="fault" id="token-fault">${isTokenWrong && pay.tokenWrong}</p>
<input${attributesHtml(field)}>
</div>
<button class="button wide" type="submit">${pay.openIt}</button>
<p class="hint">${texts.orders.locked.lost} <a href="${writeTo(contact, view.id)}">${texts.orders.locked.write}</a></p>
</form>`
}
