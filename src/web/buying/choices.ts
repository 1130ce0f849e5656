import type { EsimOffer } from '../../goods/esim.ts'
import type { Offer } from '../../goods/offer.ts'
import { lowestCharge, retailOf } from '../../goods/pricing.ts'
import { search } from '../../goods/search/search.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { buyPath } from '../shop/addresses.ts'
import { priceTexts, shortPrice } from '../shop/money-text.ts'
import { apart, fairUseOf, kindName, measure, placeName } from '../shop/offer-words.ts'

const choicesShown = 24
const coveragesShown = 8
/** Plans that are looked through for others that work in the same place. */
const lookedAt = 200

type ChoiceDeps = Pick<WebDeps, 'shelf' | 'pricing' | 'texts'>

/** The values, or the plans, of one brand and place that are sold now, to choose another of them. */
export function choicesSection(offer: Offer, deps: ChoiceDeps): Html | undefined {
  const others = othersOf(offer, deps).slice(0, choicesShown - 1)
  const same = [offer, ...others].sort(byCost(deps))
  const elsewhere = offer.kind === 'esim' ? coveragesBeside(offer, deps) : []
  if (same.length === 1 && elsewhere.length === 0) return undefined
  const { buy, offers } = deps.texts
  const many = offers.kindNamesMany[offer.kind]
  const place = placeName(offer, deps.texts)
  return html`<nav class="choices" aria-label="${buy.choices(offer.brandName, many, place)}">
${same.length > 1 && chips(same, offer, deps)}
${
  elsewhere.length > 0 &&
  html`<p class="over">${buy.otherCoverage}</p>
<ul>
${elsewhere.map(
  (
    one,
  ) => html`<li><a href="${buyPath(one)}"><b>${placeName(one, deps.texts)}</b> <span>${measure(one, deps.texts)}, ${priceOf(one, deps)}</span></a></li>
`,
)}</ul>`
}
</nav>`
}

function chips(choices: readonly Offer[], current: Offer, deps: ChoiceDeps): Html {
  const { texts } = deps
  const name = (one: Offer) => measure(one, texts) || kindName(one, texts)
  const number = apart(choices, (one) => `${name(one)}\n${fairUseOf(one)}`)
  return html`<ul>
${choices.map((one) => {
  const told = number(one)
  return html`<li><a href="${buyPath(one)}"${one.id === current.id && html` aria-current="page"`}><b>${name(one)}</b> <span>${priceOf(one, deps)}</span>${told && html` <small>${texts.offers.number(told)}</small>`}</a></li>
`
})}</ul>`
}

/** Others of the brand for the same place: a plan is for every country that it works in, and no other. */
function othersOf(offer: Offer, { shelf }: ChoiceDeps): readonly Offer[] {
  const index = shelf.current().sold[offer.kind]
  const place = offer.kind === 'esim' ? { covers: countriesOf(offer) } : { country: offer.country }
  const { docs } = search(index, { brand: offer.brand, ...place }, { limit: lookedAt, offset: 0 })
  return index
    .offersAt(docs)
    .filter(
      (other) =>
        other.brand === offer.brand &&
        other.id !== offer.id &&
        (other.kind !== 'esim' ||
          offer.kind !== 'esim' ||
          coverageKey(other) === coverageKey(offer)),
    )
}

/**
 * Plans of the brand that work in the first country of this one and elsewhere too, or there alone: for
 * each coverage the one that is most like this plan.
 */
function coveragesBeside(offer: EsimOffer, deps: ChoiceDeps): readonly Offer[] {
  const index = deps.shelf.current().sold.esim
  const [country] = countriesOf(offer)
  const covers = country === undefined ? [] : [country]
  const { docs } = search(index, { brand: offer.brand, covers }, { limit: lookedAt, offset: 0 })
  const byCoverage = new Map<string, EsimOffer>()
  for (const other of index.offersAt(docs)) {
    if (other.kind !== 'esim' || other.brand !== offer.brand) continue
    const key = coverageKey(other)
    const kept = byCoverage.get(key)
    if (kept === undefined || unlike(other, offer) < unlike(kept, offer)) byCoverage.set(key, other)
  }
  byCoverage.delete(coverageKey(offer))
  const reach = (plan: EsimOffer) => plan.coverage.length
  return [...byCoverage.values()]
    .sort((one, other) => reach(one) - reach(other))
    .slice(0, coveragesShown)
}

/** How much one plan differs from another: first in its data, then in its days. */
function unlike({ allowance: one }: EsimOffer, { allowance: other }: EsimOffer): number {
  const data = (plan: EsimOffer['allowance']) => (plan.dataUnlimited ? 1_000 : (plan.dataGb ?? 0))
  const days = Math.abs((one.durationDays ?? 0) - (other.durationDays ?? 0))
  return Math.abs(data(one) - data(other)) * 1_000 + days
}

/** The countries of a plan, in an order that is the same for the same ones. */
function countriesOf({ coverage }: EsimOffer): string[] {
  return coverage.map(({ country }) => country).sort()
}

function coverageKey(plan: EsimOffer): string {
  return countriesOf(plan).join(' ')
}

function byCost({ pricing }: ChoiceDeps): (one: Offer, other: Offer) => number {
  const cost = (offer: Offer) => Number(lowestCharge(offer, pricing) ?? Number.POSITIVE_INFINITY)
  return (one, other) => cost(one) - cost(other)
}

function priceOf(offer: Offer, { pricing, texts }: ChoiceDeps): string {
  return shortPrice(priceTexts(retailOf(offer, pricing), { ...pricing, texts }), texts)
}
