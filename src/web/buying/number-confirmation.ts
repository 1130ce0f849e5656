import { beginningOf } from '../../api/fault-words.ts'
import type { Offer } from '../../catalog/offer.ts'
import { readPhone } from '../../catalog/phone.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'
import { names, numberIn, type Typed } from './typed.ts'

/**
 * The tick by which a buyer insists on a number that no numbering plan has. It carries the number that
 * it is for: another one needs another tick. The script of the wallet shows it where the store asks.
 */
export function numberConfirmation(offer: Offer, typed: Typed, t: Texts): Html | undefined {
  if (offer.kind !== 'topup') return undefined
  const number = numberIn(typed, offer)
  const read = readPhone(number, offer.country)
  const isAsked = 'number' in read && !read.isValid
  const isTicked = isAsked && typed.confirmed === number
  const name = names.confirmed
  return html`<p class="confirm" data-said="${beginningOf('unassigned_number', 'msisdn')}"${!isAsked && html` hidden="hidden"`}>
<input type="checkbox" id="${name}" name="${name}" value="${isAsked ? number : ''}"${isTicked && html` checked="checked"`}>
<label for="${name}">${t('form.numberIsRight')}</label>
</p>
`
}
