import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'
import { orderPagePath } from '../visit/paths.ts'
import { writeTo } from './parts.ts'

/** An order in the list of a wallet, as lists publish it. */
interface ListedOrder {
  readonly orderId: string
  readonly brandName: string
  readonly state: string
  readonly refund_state: string | null
  readonly placed_at: string
}

interface WalletList {
  readonly wallet: string
  readonly total: number
  readonly items: readonly ListedOrder[]
}

type MailOutcome = 'done' | 'wrong' | 'tooMany'

/** The order of a transaction or an address, as everyone may see it. */
interface FoundOrder {
  readonly view: OrderPageView
  readonly typed: string
  /** Whether what was brought with it does not open it. */
  readonly isWrong: boolean
}

/** What a visitor typed, and what became of it. */
export interface FindPageParts {
  readonly t: Texts
  readonly scriptUrls: readonly string[]
  /** Where the store is written to. */
  readonly contact: string
  readonly number?: { readonly typed: string; readonly said?: 'wrong' | 'none' } | undefined
  readonly found?: FoundOrder | undefined
  /** Undefined where the store sends no mail. */
  readonly mail?: { readonly typed?: string; readonly said?: MailOutcome } | undefined
  readonly wallet?: { readonly said: 'failed' } | undefined
  /** The orders of the wallet that is signed in. */
  readonly list?: WalletList | undefined
}

/** The page that leads back to an order. */
export function findPage(parts: FindPageParts): Page {
  const { t, scriptUrls, list } = parts
  return {
    title: t('find.title'),
    description: t('find.description'),
    main: html`<div class="following find">
<section class="stage" aria-labelledby="find">
<h1 id="find">${t('find.title')}</h1>
<p class="lead">${t('find.intro')}</p>
</section>
${list && listPart(list, t)}
${parts.found && foundPart(parts.found, parts.contact, t)}
${recentPart(t)}
${numberPart(parts)}
${!list && walletPart(parts)}
${parts.mail && mailPart(parts.mail, t)}
</div>
${scriptUrls.map((url) => html`<script type="module" src="${url}"></script>`)}`,
  }
}

/** Orders that this browser has opened; the script fills it with what it has kept, and shows it. */
function recentPart(t: Texts): Html {
  return html`<section class="sheet" aria-labelledby="recent-title" id="recent" hidden="hidden">
<h2 id="recent-title">${t('find.recent.title')}</h2>
<p class="none">${t('find.recent.none')}</p>
<ul class="order-list"></ul>
<p><label><input type="checkbox" id="recent-kept" checked="checked"> ${t('find.recent.keep')}</label></p>
<p class="hint">${t('find.recent.text')}</p>
</section>`
}

function numberPart({ number, t }: FindPageParts): Html {
  const said =
    number?.said &&
    html`<p class="wrong" id="number-wrong" role="alert">${t(`find.number.${number.said}`)}</p>`
  return html`<section class="sheet" aria-labelledby="by-number">
<h2 id="by-number">${t('find.number.title')}</h2>
<form method="post" action="/find/payment">
<div class="field">
<label for="number">${t('find.number.label')}</label>
<input id="number" name="number" type="text" value="${number?.typed ?? ''}" required="required" maxlength="300" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${said ? 'number-wrong ' : ''}number-help"${said && html` aria-invalid="true"`}>
${said}
<p class="hint" id="number-help">${t('find.number.help')}</p>
</div>
<p class="act"><button class="button" type="submit">${t('find.number.find')}</button></p>
</form>
</section>`
}

/** What everyone is told of an order whose payment they know, and the way in for its buyer. */
function foundPart({ view, typed, isWrong }: FoundOrder, contact: string, t: Texts): Html {
  return html`<section class="sheet" aria-labelledby="found">
<h2 id="found">${t('find.found.title')}</h2>
<p>${t(`orders.states.${view.stage}`)}</p>
<form method="post" action="/find/payment">
<input type="hidden" name="number" value="${typed}">
<div class="field">
<label for="found-token">${t('orders.locked.label')}</label>
<input id="found-token" name="token" type="text" required="required" maxlength="600" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${isWrong ? 'found-wrong ' : ''}found-help"${isWrong && html` aria-invalid="true" autofocus="autofocus"`}>
${isWrong && html`<p class="wrong" id="found-wrong" role="alert">${t('orders.locked.wrong')}</p>`}
<p class="hint" id="found-help">${t('orders.locked.help')}</p>
</div>
<p class="act"><button class="button" type="submit">${t('orders.locked.open')}</button></p>
</form>
<p class="hint">${t('orders.locked.lost')} <a href="${writeTo(contact, typed)}">${t('orders.locked.write')}</a></p>
</section>`
}

/** The wallets stand here when the script has found them. */
function walletPart({ wallet, t }: FindPageParts): Html {
  return html`<section class="sheet" aria-labelledby="by-wallet">
<h2 id="by-wallet">${t('find.wallet.title')}</h2>
<p>${t('find.wallet.text')}</p>
<form method="post" action="/find/wallet" data-sign-in="/find/challenge" data-connect="${t('find.wallet.connect')}" data-searching="${t('find.wallet.searching')}" data-refused="${t('find.wallet.refused')}" data-offline="${t('find.wallet.offline')}" data-working="${t('find.wallet.working')}">
<input type="hidden" name="signed" value="">
<div class="wallet-list"></div>
<p class="${wallet ? 'wrong' : 'hint'}" role="status">${wallet ? t('find.wallet.failed') : undefined}</p>
</form>
<noscript><p class="hint">${t('find.wallet.noScript')}</p></noscript>
</section>`
}

function mailPart({ typed = '', said }: { typed?: string; said?: MailOutcome }, t: Texts): Html {
  const isWrong = said === 'wrong'
  return html`<section class="sheet" aria-labelledby="by-mail">
<h2 id="by-mail">${t('find.mail.title')}</h2>
<p id="mail-help">${t('find.mail.text')}</p>
<form method="post" action="/find/mail#by-mail">
<div class="field">
<label for="email">${t('find.mail.label')}</label>
<input id="email" name="email" type="email" value="${typed}" required="required" autocomplete="email" maxlength="254" aria-describedby="${said ? 'mail-said ' : ''}mail-help"${isWrong && html` aria-invalid="true"`}>
${said && html`<p class="${said === 'done' ? 'good' : 'wrong'}" id="mail-said" role="status">${t(`find.mail.${said}`)}</p>`}
</div>
<p class="act"><button class="button" type="submit">${t('find.mail.send')}</button></p>
</form>
</section>`
}

const states = [
  'PAYMENT_PENDING',
  'PAYMENT_FAILED',
  'PAID',
  'FULFILLING',
  'FULFILLED',
  'FULFILLMENT_FAILED',
  'EXPIRED',
  'REFUND_PENDING',
  'REFUNDED',
  'REFUND_FAILED',
] as const

function stateText({ state, refund_state }: ListedOrder, t: Texts): string | undefined {
  const found = states.find((one) => one === (refund_state ?? state))
  return found && t(`find.list.states.${found}`)
}

function listPart({ wallet, total, items }: WalletList, t: Texts): Html {
  const line = (one: ListedOrder) => html`
<li><a href="${orderPagePath(one.orderId)}"><b>${one.brandName}</b> <span>${stateText(one, t)}</span> <time datetime="${one.placed_at}">${one.placed_at.slice(0, 10)}</time></a></li>`
  return html`<section class="sheet" aria-labelledby="list">
<h2 id="list">${t('find.list.title')}</h2>
<p class="hint">${t('find.list.wallet')} <code>${wallet}</code></p>
${items.length === 0 && html`<p>${t('find.list.none')}</p>`}
<ul class="order-list">${items.map(line)}
</ul>
${total > items.length && html`<p class="hint">${t('find.list.more', { shown: items.length, total })}</p>`}
<form method="post" action="/find/leave"><p class="act"><button class="button quiet" type="submit">${t('find.list.leave')}</button></p></form>
</section>`
}
