import type { Bought } from '../../api/bought.ts'
import type { CheckoutView } from '../../api/checkout/service.ts'
import type { Return } from '../../checkouts/checkout.ts'
import { maxKept } from '../../checkouts/ledger.ts'
import { formatUsdc } from '../../lib/money.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { timeTag } from '../frame/time-of.ts'
import { liveMark, reloading } from '../live/mark.ts'
import { boughtFacts, itemText } from '../orders/bought.ts'
import { fact, writeTo } from '../orders/parts.ts'
import { recentMark } from '../orders/recent-mark.ts'
import { returned } from '../orders/returned.ts'
import { buyPath } from '../shop/addresses.ts'
import type { Texts } from '../texts/texts.ts'
import { orderPagePath, payPath } from '../visit/paths.ts'
import { attributesHtml } from './fields-html.ts'
import { invoiceCard } from './pay-invoice.ts'

/** What the page of a payment is made of besides the payment. */
export interface PayShown {
  readonly t: Texts
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
  const { t, scriptUrls } = shown
  const { title, text, say } = wordsFor(view, t)
  const isFinished = finished.has(view.stage) && !view.returns.some(isUnderWay)
  const page = payPath(view.id)
  const mark = { version: view.version, at: `${page}/live`, page, say, isFinished }
  return {
    title: view.isOwner ? `${title} · ${view.brandName}` : title,
    description: t('pay.about'),
    // Whoever has to paste something would lose it by a page that loads itself again.
    ...reloading(page, view.isOwner && !isFinished),
    main: html`<div class="paying"${liveMark(mark)}${view.bought && recentMark(view.orderId, view.bought, view.startedAt)}>
<h1>${title}</h1>
<p class="lead">${text}</p>
${view.bought && boughtPart(view, view.bought, t)}
${view.isOwner ? ownPart(view, shown) : foreignPart(view, shown)}
</div>
${scriptUrls.map(
  (url) => html`<script type="module" src="${url}"></script>
`,
)}`,
  }
}

/** Whoever sees no address is not told to pay to it. */
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

/** What the money is for, above everything that may be sent: the last place where a mistake is seen. */
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

/** Where to go from a stage that asks for nothing. */
function nextStep({ stage, orderId, offerId }: CheckoutView, t: Texts): Html | undefined {
  if (stage === 'paid') {
    return html`<p class="act"><a class="button wide" href="${orderPagePath(orderId)}">${t('pay.toOrder')}</a></p>`
  }
  if (stage !== 'expired' && stage !== 'refused') return undefined
  const path = buyPath({ id: offerId as Parameters<typeof buyPath>[0]['id'] })
  return html`<p class="act"><a class="button wide" href="${path}">${t('pay.again')}</a></p>`
}

/** Shown before anything is paid: whoever loses this page finds back by it. */
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

function isUnderWay({ payout }: Return): boolean {
  return payout.state !== 'CONFIRMED'
}

function factsOf(view: CheckoutView, t: Texts): Html {
  const facts = [
    [t('pay.backTo'), view.refundTo && copied('back-to', view.refundTo, t('pay.backTo'), t)],
    [t('pay.number'), copied('payment', view.id, t('pay.number'), t)],
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
  const { t, contact, isTokenWrong = false } = shown
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
<h2>${t('pay.foreignTitle')}</h2>
<p>${t('pay.foreign')}</p>
<div class="field">
<label for="token">${t('orders.locked.label')}</label>
<p class="fault" id="token-fault">${isTokenWrong && t('pay.tokenWrong')}</p>
<input${attributesHtml(field)}>
</div>
<button class="button wide" type="submit">${t('pay.openIt')}</button>
<p class="hint">${t('orders.locked.lost')} <a href="${writeTo(contact, view.id)}">${t('orders.locked.write')}</a></p>
</form>`
}
