import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
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
  readonly texts: Texts
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
  const { texts, scriptUrls, list } = parts
  const { find } = texts
  return {
    title: find.title,
    description: find.description,
    main: html`<div class="following find">
<section class="stage" aria-labelledby="find">
<h1 id="find">${find.title}</h1>
<p class="lead">${find.intro}</p>
</section>
${list && listPart(list, texts)}
${parts.found && foundPart(parts.found, parts.contact, texts)}
${recentPart(texts)}
${numberPart(parts)}
${!list && walletPart(parts)}
${parts.mail && mailPart(parts.mail, texts)}
</div>
${scriptUrls.map((url) => html`<script type="module" src="${url}"></script>`)}`,
  }
}

/** Orders that this browser has opened; the script fills it with what it has kept, and shows it. */
function recentPart({ find }: Texts): Html {
  const words = find.recent
  return html`<section class="sheet" aria-labelledby="recent-title" id="recent" hidden="hidden">
<h2 id="recent-title">${words.title}</h2>
<p class="none">${words.none}</p>
<ul class="order-list"></ul>
<p><label><input type="checkbox" id="recent-kept" checked="checked"> ${words.keep}</label></p>
<p class="hint">${words.text}</p>
</section>`
}

function numberPart({ number, texts }: FindPageParts): Html {
  const words = texts.find.number
  const said =
    number?.said && html`<p class="wrong" id="number-wrong" role="alert">${words[number.said]}</p>`
  return html`<section class="sheet" aria-labelledby="by-number">
<h2 id="by-number">${words.title}</h2>
<form method="post" action="/find/payment">
<div class="field">
<label for="number">${words.label}</label>
<input id="number" name="number" type="text" value="${number?.typed ?? ''}" required="required" maxlength="300" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${said ? 'number-wrong ' : ''}number-help"${said && html` aria-invalid="true"`}>
${said}
<p class="hint" id="number-help">${words.help}</p>
</div>
<p class="act"><button class="button" type="submit">${words.find}</button></p>
</form>
</section>`
}

/** What everyone is told of an order whose payment they know, and the way in for its buyer. */
function foundPart({ view, typed, isWrong }: FoundOrder, contact: string, texts: Texts): Html {
  const words = texts.find.found
  const { locked } = texts.orders
  return html`<section class="sheet" aria-labelledby="found">
<h2 id="found">${words.title}</h2>
<p>${texts.orders.states[view.stage]}</p>
<form method="post" action="/find/payment">
<input type="hidden" name="number" value="${typed}">
<div class="field">
<label for="found-token">${locked.label}</label>
<input id="found-token" name="token" type="text" required="required" maxlength="600" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${isWrong ? 'found-wrong ' : ''}found-help"${isWrong && html` aria-invalid="true" autofocus="autofocus"`}>
${isWrong && html`<p class="wrong" id="found-wrong" role="alert">${locked.wrong}</p>`}
<p class="hint" id="found-help">${locked.help}</p>
</div>
<p class="act"><button class="button" type="submit">${locked.open}</button></p>
</form>
<p class="hint">${locked.lost} <a href="${writeTo(contact, typed)}">${locked.write}</a></p>
</section>`
}

/** The wallets stand here when the script has found them. */
function walletPart({ wallet, texts }: FindPageParts): Html {
  const words = texts.find.wallet
  return html`<section class="sheet" aria-labelledby="by-wallet">
<h2 id="by-wallet">${words.title}</h2>
<p>${words.text}</p>
<form method="post" action="/find/wallet" data-sign-in="/find/challenge" data-connect="${words.connect}" data-searching="${words.searching}" data-refused="${words.refused}" data-offline="${words.offline}" data-working="${words.working}">
<input type="hidden" name="signed" value="">
<div class="wallet-list"></div>
<p class="${wallet ? 'wrong' : 'hint'}" role="status">${wallet ? words.failed : undefined}</p>
</form>
<noscript><p class="hint">${words.noScript}</p></noscript>
</section>`
}

function mailPart(
  { typed = '', said }: { typed?: string; said?: MailOutcome },
  { find }: Texts,
): Html {
  const words = find.mail
  const isWrong = said === 'wrong'
  return html`<section class="sheet" aria-labelledby="by-mail">
<h2 id="by-mail">${words.title}</h2>
<p id="mail-help">${words.text}</p>
<form method="post" action="/find/mail#by-mail">
<div class="field">
<label for="email">${words.label}</label>
<input id="email" name="email" type="email" value="${typed}" required="required" autocomplete="email" maxlength="254" aria-describedby="${said ? 'mail-said ' : ''}mail-help"${isWrong && html` aria-invalid="true"`}>
${said && html`<p class="${said === 'done' ? 'good' : 'wrong'}" id="mail-said" role="status">${words[said]}</p>`}
</div>
<p class="act"><button class="button" type="submit">${words.send}</button></p>
</form>
</section>`
}

function listPart({ wallet, total, items }: WalletList, { find }: Texts): Html {
  const words = find.list
  const line = (one: ListedOrder) => html`
<li><a href="${orderPagePath(one.orderId)}"><b>${one.brandName}</b> <span>${words.states[one.refund_state ?? one.state]}</span> <time datetime="${one.placed_at}">${one.placed_at.slice(0, 10)}</time></a></li>`
  return html`<section class="sheet" aria-labelledby="list">
<h2 id="list">${words.title}</h2>
<p class="hint">${words.wallet} <code>${wallet}</code></p>
${items.length === 0 && html`<p>${words.none}</p>`}
<ul class="order-list">${items.map(line)}
</ul>
${total > items.length && html`<p class="hint">${words.more(items.length, total)}</p>`}
<form method="post" action="/find/leave"><p class="act"><button class="button quiet" type="submit">${words.leave}</button></p></form>
</section>`
}
