import { kindOf } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Pricing, retailOf } from '../../catalog/pricing.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'
import { buyPath } from './addresses.ts'
import { cardFace } from './card-face.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { apart, kindName, measure, placeName } from './offer-words.ts'

interface CardDeps {
  readonly pricing: Pricing
  readonly t: Texts
}

/** The offers of a list; no two with different goods read the same. */
export function offerCards(offers: readonly Offer[], deps: CardDeps): Html[] {
  const { t } = deps
  const number = apart(offers, (offer) =>
    [offer.brandName, whatOf(offer, t), placeName(offer, t), kindOf(offer).fairUseOf?.(offer)].join(
      '\n',
    ),
  )
  return offers.map((offer) => offerCard(offer, number(offer), deps))
}

/** One offer in a list: its face, what it is, where it works and what it costs, as one link. */
function offerCard(offer: Offer, number: string | undefined, { pricing, t }: CardDeps): Html {
  const price = priceTexts(retailOf(offer, pricing), t)
  const note = kindOf(offer).fairUseOf?.(offer)
  return html`<li><a class="offer-card" href="${buyPath(offer)}">${cardFace(offer.brandName, offer.kind)}
<span class="told"><b>${offer.brandName}</b> <span class="what">${whatOf(offer, t)}</span> <span class="where">${placeName(offer, t)}</span>${note && html` <span class="note">${note}</span>`}${number && html` <span class="note">${t('offers.number', { id: number })}</span>`}</span>
<span class="costs">${shortPrice(price, t)}</span></a></li>
`
}

function whatOf(offer: Offer, t: Texts): string {
  return measure(offer, t) || kindName(offer, t)
}
