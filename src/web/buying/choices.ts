import type { EsimOffer } from '../../catalog/kinds/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { lowestCharge, retailOf } from '../../catalog/pricing.ts'
import { type BrandPlace, brandPlaces } from '../../catalog/search/brand-places.ts'
import { coveredBy } from '../../catalog/search/stock.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { buyPath } from '../paths.ts'
import { priceTexts, shortPrice } from '../shop/money-text.ts'
import { apart, kindName, measure, placeName } from '../shop/offer-words.ts'

const choicesShown = 24
const coveragesShown = 8
/** How many plans of each other coverage are compared to find the one most like this plan. */
const likeRead = 3

type ChoiceDeps = Pick<WebDeps, 'liveCatalog' | 'pricing' | 't'>

interface Beside {
  readonly height: number
  readonly deps: ChoiceDeps
}

/** Links to the other values or plans of the same brand and place that are sold now. */
export function choicesSection(offer: Offer, deps: ChoiceDeps): Html | undefined {
  const places = brandPlaces(deps.liveCatalog.current().sold[offer.kind], offer)
  const countries = coveredBy(offer).join()
  const isOwn = (place: BrandPlace) => place.countries.join() === countries
  const own = places.find(isOwn)?.offers ?? []
  const lists = places.filter((place) => !isOwn(place)).map(({ offers }) => offers)
  const beside = { height: heightOf(offer, own, deps), deps }
  const same = sameAs(offer, own, beside)
  const elsewhere =
    offer.kind === 'esim' ? mostLike(offer, lists.slice(0, coveragesShown), beside) : []
  if (same.length === 1 && elsewhere.length === 0) return undefined
  const { t } = deps
  const place = placeName(offer, t)
  const name = (one: Offer) => measure(one, t) || kindName(one, t)
  return html`<nav class="choices" aria-label="${t(`buy.choices.${offer.kind}`, { brand: offer.brandName, place })}">
${same.length > 1 && chips(same, (one) => [name(one), priceOf(one, deps)], { offer, deps })}
${
  elsewhere.length > 0 &&
  html`<p class="over">${t('buy.otherCoverage')}</p>
${chips(elsewhere, (one) => [placeName(one, t), `${name(one)}, ${priceOf(one, deps)}`], { offer, deps })}`
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

/** The position of this offer, from 0 to 1, in a list of offers sorted by price. */
function heightOf(offer: Offer, list: readonly Offer[], deps: ChoiceDeps): number {
  const compare = byCost(deps)
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(list[middle] as Offer, offer) < 0) low = middle + 1
    else high = middle
  }
  return list.length < 2 ? 0 : low / (list.length - 1)
}

/** `count` neighbours around a position of a list; all of a shorter list. */
function atHeight(list: readonly Offer[], height: number, count: number): readonly Offer[] {
  const middle = Math.round(height * (list.length - 1))
  const last = Math.min(list.length, Math.max(0, middle - (count >> 1)) + count)
  return list.slice(Math.max(0, last - count), last)
}

/** The values or plans of one list whose prices are closest to that of this offer, with this offer among them. */
function sameAs(offer: Offer, list: readonly Offer[], { height, deps }: Beside): readonly Offer[] {
  const others = atHeight(list, height, choicesShown).filter(
    ({ brand, id }) => brand === offer.brand && id !== offer.id,
  )
  return [offer, ...others.slice(0, choicesShown - 1)].sort(byCost(deps))
}

/**
 * The plan of each list that is most like this one. A brand's plans have similar price steps everywhere, so only those
 * at the same position are compared.
 */
function mostLike(
  offer: EsimOffer,
  lists: readonly (readonly Offer[])[],
  { height }: Beside,
): readonly Offer[] {
  return lists.flatMap((list) =>
    atHeight(list, height, likeRead)
      .filter((plan) => plan.kind === 'esim')
      .sort((one, other) => unlike(one, offer) - unlike(other, offer))
      .slice(0, 1),
  )
}

/** How much two plans differ: first in their data, then in their days. */
function unlike({ allowance: one }: EsimOffer, { allowance: other }: EsimOffer): number {
  const data = (plan: EsimOffer['allowance']) => (plan.dataUnlimited ? 1_000 : (plan.dataGb ?? 0))
  const days = Math.abs((one.durationDays ?? 0) - (other.durationDays ?? 0))
  return Math.abs(data(one) - data(other)) * 1_000 + days
}

function byCost({ pricing }: ChoiceDeps): (one: Offer, other: Offer) => number {
  const cost = (offer: Offer) => Number(lowestCharge(offer, pricing) ?? Number.POSITIVE_INFINITY)
  return (one, other) => cost(one) - cost(other)
}

function priceOf(offer: Offer, { pricing, t }: ChoiceDeps): string {
  return shortPrice(priceTexts(retailOf(offer, pricing), t), t)
}
