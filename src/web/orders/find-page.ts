import type { PaidFor } from '../../desk/following/find.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
import { orderPagePath } from '../visit/paths.ts'

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

interface PaymentSaid extends Pick<PaidFor, 'standing'> {
  readonly typed: string
  readonly said: 'wrong' | 'none' | 'found'
}

type MailSaid = 'done' | 'wrong' | 'tooMany'

/** What a visitor typed, and what became of it. */
export interface FindPageParts {
  readonly texts: Texts
  readonly scriptUrls: readonly string[]
  readonly payment?: PaymentSaid | undefined
  /** Undefined where the store sends no mail. */
  readonly mail?: { readonly typed?: string; readonly said?: MailSaid } | undefined
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
${paymentPart(parts)}
${!list && walletPart(parts)}
${parts.mail && mailPart(parts.mail, texts)}
</div>
${scriptUrls.map((url) => html`<script type="module" src="${url}"></script>`)}`,
  }
}

function paymentPart({ payment, texts }: FindPageParts): Html {
  const words = texts.find.payment
  const said = payment && paymentSaid(payment, texts)
  const isWrong = payment !== undefined && payment.said !== 'found'
  return html`<section class="sheet" aria-labelledby="by-payment">
<h2 id="by-payment">${words.title}</h2>
<p>${words.text}</p>
<form method="post" action="/find/payment">
<div class="field">
<label for="transaction">${words.label}</label>
<input id="transaction" name="transaction" type="text" value="${payment?.typed ?? ''}" required="required" maxlength="300" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${payment ? 'transaction-said ' : ''}transaction-help"${isWrong && html` aria-invalid="true"`}>
${said}
<p class="hint" id="transaction-help">${words.help}</p>
</div>
<p class="act"><button class="button" type="submit">${words.find}</button></p>
</form>
</section>`
}

function paymentSaid({ said, standing }: PaymentSaid, { find }: Texts): Html {
  const words = find.payment
  if (said !== 'found') {
    return html`<p class="wrong" id="transaction-said" role="alert">${words[said]}</p>`
  }
  const { state, state_updated_at, refund_state, refund_state_updated_at } = standing ?? {}
  const name = find.list.states[refund_state ?? state ?? '']
  const since = refund_state_updated_at ?? state_updated_at ?? ''
  const where = html` <b>${name}</b> <time datetime="${since}">${since.slice(0, 10)}</time>`
  return html`<p class="good" id="transaction-said" role="status">${words.found}${name && where} ${words.open}</p>`
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
  { typed = '', said }: { typed?: string; said?: MailSaid },
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
