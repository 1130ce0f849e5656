import type { Offer } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { money, receivesText } from './receives.ts'

/** What a card or a line receives for the amount in the form; a script keeps it true. */
export function faceShown(offer: Offer, typed: string, { form, offers }: Texts): Html | undefined {
  const { kind, price, faceValue } = offer
  if (kind === 'esim') return undefined
  const words = { text: form.receives(money), about: offers.about(money), numbers: offers.numbers }
  const data = { offer: { kind, price, faceValue }, words }
  return html`<output class="face-value" id="face-value" for="value" data-face="${JSON.stringify(data)}">${receivesText(offer, typed, words)}</output>
`
}
