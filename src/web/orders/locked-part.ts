import { findPath } from '../../api/tracking/find.ts'
import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { linkTokenDays } from '../../api/tracking/tokens.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { orderPagePath } from '../visit/paths.ts'
import { writeTo } from './parts.ts'

/** What somebody brought that does not open the order. */
export interface Refused {
  readonly typed: string
  /** Whether it did, until it was too old. */
  readonly isOld: boolean
}

interface LockedParts {
  readonly texts: Texts
  readonly refused?: Refused | undefined
  readonly sendsMail?: boolean
  readonly contact: string
}

/** The field for the private link, for whoever has not shown it, and the other ways in. */
export function lockedPart({ id, coin }: OrderPageView, parts: LockedParts): Html {
  const { refused, sendsMail = false, contact, texts } = parts
  const { locked } = texts.orders
  const isWrong = refused !== undefined
  return html`<section class="sheet locked" aria-labelledby="locked">
<h2 id="locked">${locked.title}</h2>
<p>${locked.text}</p>
<form method="post" action="${orderPagePath(id)}/open" data-open="${orderPagePath(id)}">
<div class="field">
<label for="token">${locked.label}</label>
<input id="token" name="token" type="text" value="${refused?.typed ?? ''}" required="required" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${isWrong ? 'token-wrong ' : ''}token-help"${isWrong && html` aria-invalid="true"`}>
${refused && html`<p class="wrong" id="token-wrong" role="alert">${whyRefused(refused, parts)}</p>`}
<p class="hint" id="token-help">${locked.help}</p>
</div>
<p class="act"><button class="button" type="submit">${locked.open}</button></p>
</form>
${coin === undefined && html`<p class="hint">${locked.byWallet} <a href="${findPath}#by-wallet">${locked.signIn}</a></p>`}
${sendsMail && html`<p class="hint">${locked.byMail} <a href="${findPath}#by-mail">${locked.askMail}</a></p>`}
<p class="hint">${locked.lost} <a href="${writeTo(contact, id)}">${locked.write}</a></p>
</section>`
}

function whyRefused({ isOld }: Refused, { sendsMail, texts }: LockedParts): Html {
  const { locked } = texts.orders
  if (!isOld) return html`${locked.wrong}`
  if (!sendsMail) return html`${locked.old(linkTokenDays)} ${locked.useCode}`
  return html`${locked.old(linkTokenDays)} <a href="${findPath}#by-mail">${locked.askNew}</a>`
}
