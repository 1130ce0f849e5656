import { findPath } from '../../api/tracking/find.ts'
import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { linkTokenDays } from '../../api/tracking/tokens.ts'
import { type Html, html } from '../frame/html.ts'
import { orderPagePath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { writeTo } from './parts.ts'

/** A link or code that does not open the order. */
export interface Refused {
  readonly typed: string
  /** Whether it did, before it expired. */
  readonly isOld: boolean
}

interface LockedParts {
  readonly t: Texts
  readonly refused?: Refused | undefined
  readonly sendsMail?: boolean
  readonly contact: string
}

/** The field for the private link, for visitors who have not opened the order, and the other ways in. */
export function lockedPart({ id, coin }: OrderPageView, parts: LockedParts): Html {
  const { refused, sendsMail = false, contact, t } = parts
  const isWrong = refused !== undefined
  return html`<section class="sheet locked" aria-labelledby="locked">
<h2 id="locked">${t('orders.locked.title')}</h2>
<p>${t('orders.locked.text')}</p>
<form method="post" action="${orderPagePath(id)}/open" data-open="${orderPagePath(id)}">
<div class="field">
<label for="token">${t('orders.locked.label')}</label>
<input id="token" name="token" type="text" value="${refused?.typed ?? ''}" required="required" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${isWrong ? 'token-wrong ' : ''}token-help"${isWrong && html` aria-invalid="true"`}>
${refused && html`<p class="wrong" id="token-wrong" role="alert">${whyRefused(refused, parts)}</p>`}
<p class="hint" id="token-help">${t('orders.locked.help')}</p>
</div>
<p class="act"><button class="button" type="submit">${t('orders.locked.open')}</button></p>
</form>
${coin === undefined && html`<p class="hint">${t('orders.locked.byWallet')} <a href="${findPath}#by-wallet">${t('orders.locked.signIn')}</a></p>`}
${sendsMail && html`<p class="hint">${t('orders.locked.byMail')} <a href="${findPath}#by-mail">${t('orders.locked.askMail')}</a></p>`}
<p class="hint">${t('orders.locked.lost')} <a href="${writeTo(contact, id)}">${t('orders.locked.write')}</a></p>
</section>`
}

function whyRefused({ isOld }: Refused, { sendsMail, t }: LockedParts): Html {
  if (!isOld) return html`${t('orders.locked.wrong')}`
  if (!sendsMail)
    return html`${t('orders.locked.old', { days: linkTokenDays })} ${t('orders.locked.useCode')}`
  return html`${t('orders.locked.old', { days: linkTokenDays })} <a href="${findPath}#by-mail">${t('orders.locked.askNew')}</a>`
}
