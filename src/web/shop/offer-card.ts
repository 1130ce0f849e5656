import type { Offer } from '../../goods/offer.ts'
import { type Pricing, retailOf } from '../../goods/pricing.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { buyPath } from './addresses.ts'
import { cardFace } from './card-face.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { kindName, measure, placeName } from './offer-words.ts'

/** One offer in a list: its face, what it is, where it works and what it costs, as one link. */
export function offerCard(
  offer: Offer,
  { pricing, texts }: { readonly pricing: Pricing; readonly texts: Texts },
): Html {
  const price = priceTexts(retailOf(offer, pricing), { ...pricing, texts })
  const what = measure(offer, texts) || kindName(offer, texts)
  return html`<li><a class="offer-card" href="${buyPath(offer)}">${cardFace(offer.brandName, offer.kind)}
<span class="told"><b>${offer.brandName}</b> <span class="what">${what}</span> <span class="where">${placeName(offer, texts)}</span></span>
<span class="costs">${shortPrice(price, texts)}</span></a></li>
`
}
