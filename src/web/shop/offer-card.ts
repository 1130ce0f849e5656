import type { Offer } from '../../catalog/offer.ts'
import { fairUseOf } from '../../catalog/offer-details.ts'
import { type Pricing, retailOf } from '../../catalog/pricing.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { buyPath } from './addresses.ts'
import { cardFace } from './card-face.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { apart, kindName, measure, placeName } from './offer-words.ts'

interface CardDeps {
  readonly pricing: Pricing
  readonly texts: Texts
}

/** The offers of a list; no two with different goods read the same. */
export function offerCards(offers: readonly Offer[], deps: CardDeps): Html[] {
  const { texts } = deps
  const number = apart(offers, (offer) =>
    [offer.brandName, whatOf(offer, texts), placeName(offer, texts), fairUseOf(offer)].join('\n'),
  )
  return offers.map((offer) => offerCard(offer, number(offer), deps))
}

/** One offer in a list: its face, what it is, where it works and what it costs, as one link. */
function offerCard(offer: Offer, number: string | undefined, { pricing, texts }: CardDeps): Html {
  const price = priceTexts(retailOf(offer, pricing), { ...pricing, texts })
  const note = fairUseOf(offer)
  return html`<li><a class="offer-card" href="${buyPath(offer)}">${cardFace(offer.brandName, offer.kind)}
<span class="told"><b>${offer.brandName}</b> <span class="what">${whatOf(offer, texts)}</span> <span class="where">${placeName(offer, texts)}</span>${note && html` <span class="note">${note}</span>`}${number && html` <span class="note">${texts.offers.number(number)}</span>`}</span>
<span class="costs">${shortPrice(price, texts)}</span></a></li>
`
}

function whatOf(offer: Offer, texts: Texts): string {
  return measure(offer, texts) || kindName(offer, texts)
}
