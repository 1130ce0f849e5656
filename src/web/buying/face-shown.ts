import type { Offer } from '../../catalog/offer.ts'
import { worthOf } from '../../catalog/offer-details.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'
import { receivesText } from './receives.ts'

/** What a card or a line receives for the amount in the form; a script keeps it true. */
export function faceShown(offer: Offer, typed: string, t: Texts): Html | undefined {
  const worth = worthOf(offer)
  if (worth.faceValue === undefined) return undefined
  const words = {
    text: t.open('form.receives'),
    about: t.open('offers.about'),
    language: t.language,
  }
  const data = { worth, words }
  return html`<output class="face-value" id="face-value" for="value" data-face="${JSON.stringify(data)}">${receivesText(worth, typed, words)}</output>
`
}
