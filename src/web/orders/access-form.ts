import { findPath } from '../../api/tracking/find.ts'
import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { linkTokenDays } from '../../api/tracking/tokens.ts'
import { onlyField } from '../frame/fields.ts'
import { type Html, html } from '../frame/html.ts'
import { orderPagePath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { writeTo } from './parts.ts'

interface AccessForm {
  /** The path to which it is sent. */
  readonly action: string
  /** The number of the order, if the action does not contain it. */
  readonly number?: string
  /** Shown if the sent link or code does not open the order. */
  readonly fault?: string | undefined
  /** What was sent. */
  readonly typed?: string | undefined
}

/** The form that opens an order, or its payment, with the private link or the recovery code. */
export function accessForm({ action, number, fault, typed = '' }: AccessForm, t: Texts): Html {
  const field = {
    name: 'token',
    label: t('orders.locked.label'),
    hint: t('orders.locked.help'),
    fault,
    value: typed,
    isRequired: true,
    attributes: {
      autocomplete: 'off',
      autocapitalize: 'none',
      spellcheck: 'false',
      maxlength: '600',
    },
  }
  return html`<form method="post" action="${action}">
${number !== undefined && html`<input type="hidden" name="number" value="${number}">`}
${onlyField(field, t)}
<p class="act"><button class="button" type="submit">${t('orders.locked.open')}</button></p>
</form>`
}

/** For visitors who have neither: a link to write a mail to the store, with the number in its subject. */
export function lostBoth(contact: string, number: string, t: Texts): Html {
  return html`<p class="hint">${t('orders.locked.lost')} <a href="${writeTo(contact, number)}">${t('orders.locked.write')}</a></p>`
}

/** A sent link or code that does not open the order. */
export interface Refused {
  readonly typed: string
  /** Whether it opened the order before it expired. */
  readonly isOld: boolean
}

interface LockedParts {
  readonly t: Texts
  readonly refused?: Refused | undefined
  readonly sendsMail?: boolean
  readonly contact: string
}

/** Shown to visitors who have not opened the order: the form, and the other ways to open it. */
export function lockedPart({ id, coin }: OrderPageView, parts: LockedParts): Html {
  const { refused, sendsMail = false, contact, t } = parts
  const fault = refused?.isOld
    ? t('orders.locked.old', { days: linkTokenDays })
    : refused && t('orders.locked.wrong')
  return html`<section class="sheet locked" aria-labelledby="locked">
<h2 id="locked">${t('orders.locked.title')}</h2>
<p>${t('orders.locked.text')}</p>
${accessForm({ action: `${orderPagePath(id)}/open`, fault, typed: refused?.typed }, t)}
${coin === undefined && html`<p class="hint">${t('orders.locked.byWallet')} <a href="${findPath}#by-wallet">${t('orders.locked.signIn')}</a></p>`}
${sendsMail && html`<p class="hint">${t('orders.locked.byMail')} <a href="${findPath}#by-mail">${t('orders.locked.askMail')}</a></p>`}
${lostBoth(contact, id, t)}
</section>`
}
