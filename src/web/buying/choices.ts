import type { EsimOffer } from '../../catalog/kinds/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { lowestCharge, retailOf } from '../../catalog/pricing.ts'
import { type BrandPlace, brandPlaces } from '../../catalog/search/search-index.ts'
import { coveredBy } from '../../catalog/search/stock.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { buyPath } from '../paths.ts'
import { priceTexts, shortPrice } from '../shop/money-text.ts'
import { apart, kindName, measure, placeName } from '../shop/offer-words.ts'
import { once } from '../texts/once.ts'

const choicesShown = 24
const coveragesShown = 8

type ChoiceDeps = Pick<WebDeps, 'liveCatalog' | 'pricing' | 't'>

export function choicesSection(offer: Offer, deps: ChoiceDeps): Html | undefined {
  const { t } = deps
  const places = brandPlaces(deps.liveCatalog.current().sold[offer.kind], offer)
  const countries = coveredBy(offer).join()
  const isOwn = (place: BrandPlace) => place.countries.join() === countries
  const same = sameAs(offer, places.find(isOwn)?.offers ?? [], deps)
  const others = places.filter((place) => !isOwn(place)).slice(0, coveragesShown)
  const elsewhere = offer.kind === 'esim' ? others.flatMap((place) => mostLike(offer, place)) : []
  if (same.length === 1 && elsewhere.length === 0) return undefined
  const about = { brand: offer.brandName, place: placeName(offer, t) }
  const name = (one: Offer) => measure(one, t) || kindName(one, t)
  const price = (one: Offer) => shortPrice(priceTexts(retailOf(one, deps.pricing), t), t)
  return html`<nav class="choices" aria-label="${t(`buy.choices.${offer.kind}`, about)}">
${same.length > 1 && chips(same, (one) => [name(one), price(one)], { offer, deps })}
${
  elsewhere.length > 0 &&
  html`<p class="over">${t('buy.otherCoverage')}</p>
${chips(elsewhere, (one) => [placeName(one, t), `${name(one)}, ${price(one)}`], { offer, deps })}`
}
</nav>`
}

/**
 * Links to offers, no two with the same text.
 *
 * @param wordsOf the text of a link: the name, and what stands beside it
 */
function chips(
  choices: readonly Offer[],
  wordsOf: (one: Offer) => readonly [name: string, beside: string],
  { offer, deps }: { readonly offer: Offer; readonly deps: ChoiceDeps },
): Html {
  const number = apart(choices, (one) => wordsOf(one)[0])
  return html`<ul>
${choices.map((one) => {
  const [name, beside] = wordsOf(one)
  const told = number(one)
  return html`<li><a href="${buyPath(one)}"${one.id === offer.id && html` aria-current="page"`}><b>${name}</b> <span>${beside}</span>${told && html` <small>${deps.t('offers.number', { id: told })}</small>`}</a></li>
`
})}</ul>`
}

/** The values or plans of one list whose prices are closest to that of this offer, and this offer, by price. */
function sameAs(
  offer: Offer,
  list: readonly Offer[],
  { pricing }: Pick<ChoiceDeps, 'pricing'>,
): readonly Offer[] {
  const costOf = once((one: Offer) => Number(lowestCharge(one, pricing) ?? 0))
  const distance = (one: Offer) => Math.abs(costOf(one) - costOf(offer))
  const others = list
    .filter(({ brand, id }) => brand === offer.brand && id !== offer.id)
    .sort((one, other) => distance(one) - distance(other))
  return [offer, ...others.slice(0, choicesShown - 1)].sort(
    (one, other) => costOf(one) - costOf(other),
  )
}

function mostLike(offer: EsimOffer, { offers }: BrandPlace): readonly EsimOffer[] {
  return offers
    .filter((plan) => plan.kind === 'esim')
    .sort((one, other) => difference(one, offer) - difference(other, offer))
    .slice(0, 1)
}

/** How much two plans differ: first in their data, then in their days. */
function difference({ allowance: one }: EsimOffer, { allowance: other }: EsimOffer): number {
  const data = (plan: EsimOffer['allowance']) => (plan.dataUnlimited ? 1_000 : (plan.dataGb ?? 0))
  const days = Math.abs((one.durationDays ?? 0) - (other.durationDays ?? 0))
  return Math.abs(data(one) - data(other)) * 1_000 + days
}
