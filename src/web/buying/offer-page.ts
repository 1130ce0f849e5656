import type { Coverage } from '../../catalog/kinds/esim.ts'
import type { Offer } from '../../catalog/offer.ts'
import { lowestCharge, retailOf } from '../../catalog/pricing.ts'
import { coveredBy } from '../../catalog/search/stock.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { crumbTrail, type Page } from '../frame/layout.ts'
import { fact } from '../frame/parts.ts'
import { buyPath, recordPath, searchPath } from '../paths.ts'
import { moneyText, type PriceTexts, priceTexts, shortPrice } from '../shop/money-text.ts'
import {
  allowanceFacts,
  apart,
  kindName,
  measure,
  placeName,
  productName,
  whatOf,
} from '../shop/offer-words.ts'
import { countryName, once, type Texts } from '../texts/texts.ts'
import { buyForm, type PayingDeps } from './buy-form.ts'
import type { FormFeedback } from './form.ts'

type OfferDeps = WebDeps & PayingDeps

/** The page of one offer, where its `buy_url` leads; with the form as it was sent, if it was. */
export function offerPage(offer: Offer, deps: OfferDeps, feedback?: FormFeedback): Page {
  const { pricing, t } = deps
  const price = priceTexts(retailOf(offer, pricing), t)
  const name = productName(offer, t)
  const isFaulty =
    feedback !== undefined && (feedback.faults.size > 0 || feedback.notice !== undefined)
  return {
    title: isFaulty ? `${t('form.errorPrefix')}${name}` : name,
    description: `${name}: ${costOf(price, t)}. ${t(`buy.delivered.${offer.kind}`)}`,
    path: buyPath(offer),
    openGraph: {
      'og:type': 'product',
      ...(offer.kind === 'voucher' && offer.image ? { 'og:image': offer.image } : {}),
    },
    scripts: price.type === 'NOT_SOLD' ? [] : ['typed.js', 'wallet.js'],
    // Wallets announce their icons as data URLs.
    drawsPictures: true,
    data: productData(offer, price, deps),
    main: html`${heading(offer, t)}
${choices(offer, deps)}
<div class="offer">
${ticket(offer, price, deps, feedback)}
${aboutSection(offer, t)}
</div>
${agents(offer, t)}`,
  }
}

function costOf(price: PriceTexts, t: Texts): string {
  if (price.type === 'NOT_SOLD') return t('offers.notSold')
  if (price.type === 'FIXED') return t('buy.summary', { amount: price.usdc })
  const amount = t('offers.range', { least: price.minUsdc, most: price.maxUsdc })
  return t('buy.summary', { amount })
}

function heading(offer: Offer, t: Texts): Html {
  const { kind, brandName } = offer
  const crumbs = [
    { name: t(`kinds.${kind}.title`), path: searchPath({ kind }) },
    { name: brandName, path: searchPath({ kind, brand: brandName }) },
    { name: whatOf(offer, t), path: buyPath(offer) },
  ]
  return html`${crumbTrail(crumbs, t)}
<h1 class="name">${brandName} <span>${measure(offer, t)}</span></h1>
<p class="under">${kindName(offer, t)} · ${placeName(offer, t)}</p>`
}

const maxChoices = 24
const maxCoverages = 8

/** Links to the other values or plans of the brand in the same place, and to its plans for other places. */
function choices(offer: Offer, deps: OfferDeps): Html | undefined {
  const { t, pricing } = deps
  const index = deps.liveCatalog.current().sold[offer.kind]
  const covers = coveredBy(offer)
  const nearby = { brandKeys: [offer.brand], covers: covers.slice(0, 1) }
  const { offers } = index.search(nearby, { offset: 0, limit: index.size })
  const places = Map.groupBy(offers, (one) => coveredBy(one).join())
  const same = sameAs(offer, places.get(covers.join()) ?? [], deps)
  places.delete(covers.join())
  // The fewest countries first: each code is equally long.
  const others = [...places].sort(([one], [other]) => one.length - other.length)
  const elsewhere =
    offer.kind === 'esim'
      ? others.slice(0, maxCoverages).flatMap(([, plans]) => mostLike(offer, plans))
      : []
  if (same.length === 1 && elsewhere.length === 0) return undefined
  const about = { brand: offer.brandName, place: placeName(offer, t) }
  const price = (one: Offer) => shortPrice(priceTexts(retailOf(one, pricing), t), t)
  const current = { offer, t }
  return html`<nav class="choices" aria-label="${t(`buy.choices.${offer.kind}`, about)}">
${same.length > 1 && chips(same, (one) => [whatOf(one, t), price(one)], current)}
${
  elsewhere.length > 0 &&
  html`<p class="over">${t('buy.otherCoverage')}</p>
${chips(elsewhere, (one) => [placeName(one, t), `${whatOf(one, t)}, ${price(one)}`], current)}`
}
</nav>`
}

/** Links to offers, no two with the same text. */
function chips(
  offers: readonly Offer[],
  labelOf: (one: Offer) => readonly [name: string, beside: string],
  { offer, t }: { readonly offer: Offer; readonly t: Texts },
): Html {
  const numberOf = apart(offers, (one) => labelOf(one)[0])
  return html`<ul>
${offers.map((one) => {
  const [name, beside] = labelOf(one)
  const id = numberOf(one)
  return html`<li><a href="${buyPath(one)}"${one.id === offer.id && html` aria-current="page"`}><b>${name}</b> <span>${beside}</span>${id && html` <small>${t('offers.number', { id })}</small>`}</a></li>
`
})}</ul>`
}

/** The values or plans of one list whose prices are closest to that of this offer, and this offer, by price. */
function sameAs(offer: Offer, list: readonly Offer[], { pricing }: WebDeps): readonly Offer[] {
  const costOf = once((one: Offer) => Number(lowestCharge(one, pricing) ?? 0))
  const distance = (one: Offer) => Math.abs(costOf(one) - costOf(offer))
  const others = list
    .filter(({ brand, id }) => brand === offer.brand && id !== offer.id)
    .sort((one, other) => distance(one) - distance(other))
  return [offer, ...others.slice(0, maxChoices - 1)].sort(
    (one, other) => costOf(one) - costOf(other),
  )
}

type EsimOffer = Extract<Offer, { kind: 'esim' }>

function mostLike(offer: EsimOffer, offers: readonly Offer[]): readonly EsimOffer[] {
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

function ticket(offer: Offer, price: PriceTexts, deps: OfferDeps, feedback?: FormFeedback): Html {
  const { t } = deps
  const minutes = Math.max(1, Math.round(deps.fulfillmentDeadlineSeconds / 60))
  const isSold = price.type !== 'NOT_SOLD'
  return html`<section class="ticket" aria-labelledby="price">
<div class="stub">
<h2 id="price">${t('buy.price')}</h2>
${priceLines(price, deps)}
${
  isSold
    ? html`<p class="stock in"><b>${t('buy.available')}</b></p>`
    : html`<p class="stock out"><b>${t('buy.notSold')}</b> ${price.reason}</p>`
}
</div>
${isSold && buyForm(offer, deps, feedback)}
<dl>
${fact(t('buy.receive'), t(`buy.delivered.${offer.kind}`))}${fact(t('buy.when'), t('buy.whenText', { minutes }))}${fact(t('buy.refund'), `${t(`buy.refundRule.${offer.kind}`)} ${t('buy.refundTail')}`)}${fact(t('buy.accepts'), t('buy.acceptsText'))}</dl>
</section>`
}

function priceLines(price: PriceTexts, { networkName, checkout, t }: OfferDeps): Html {
  if (price.type === 'NOT_SOLD') return html`<p class="amount">${t('buy.noPrice')}</p>`
  const coins = (checkout?.methodsNow() ?? []).map(({ coin }) => coin)
  const list = new Intl.ListFormat(t.language, { type: 'disjunction' }).format(coins)
  return html`${
    price.type === 'FIXED'
      ? html`<p class="amount">${t('buy.fixed', { usdc: price.usdc, data: (text) => html`<data value="${price.usdc}">${text}</data>` })}</p>`
      : html`<p class="amount range">${t('buy.range', { least: price.minUsdc, most: price.maxUsdc, to: (text) => html`<i>${text}</i>` })}</p>
<p class="hint">${t('buy.choose', { least: price.minValue, most: price.maxValue, step: price.step })}</p>`
  }
<p class="hint">${t('buy.paidOn', { network: networkName })}</p>
${coins.length > 0 && html`<p class="hint">${t('buy.orCoins', { coins: list })}</p>`}`
}

function agents(offer: Offer, t: Texts): Html {
  return html`<section class="agents" id="agents" aria-labelledby="agents-title">
<h2 id="agents-title">${t('buy.agents')}</h2>
<p>${t('buy.agentsLead', { skill: (text) => html`<a href="/SKILL.md">${text}</a>`, record: (text) => html`<a href="${recordPath(offer)}">${text}</a>` })}</p>
</section>`
}

const maxCountries = 12

function aboutSection(offer: Offer, t: Texts): Html {
  return html`<section class="about" aria-labelledby="facts">
<h2 id="facts">${t('buy.facts')}</h2>
${offer.shortNotes && html`<p class="short" dir="auto">${offer.shortNotes}</p>`}
<dl class="facts">
${factsOf(offer, t)}</dl>
${offer.kind === 'esim' && offer.coverage.length > 1 && coverageList(offer.coverage, t)}
${textBlock(t('buy.notes'), offer.notes)}
${offer.kind === 'voucher' && textBlock(t('buy.redeem'), offer.redemptionInstructions)}
${offer.kind === 'voucher' && textBlock(t('buy.description'), offer.description)}
</section>`
}

function factsOf(offer: Offer, t: Texts): (Html | undefined)[] {
  const { kind, regions, subTypes, id } = offer
  const maker = { voucher: 'brand', topup: 'operator', esim: 'provider' } as const
  const isEsim = kind === 'esim'
  const speeds = isEsim ? offer.coverage.flatMap((one) => one.speeds) : []
  return [
    fact(t('buy.factNames.kind'), kindName(offer, t)),
    fact(t(`buy.factNames.${maker[kind]}`), offer.brandName),
    valueFact(offer, t),
    ...(kind === 'voucher' ? [] : allowanceFacts(offer.allowance, t)),
    fact(t(`buy.factNames.${isEsim ? 'worksIn' : 'country'}`), placeName(offer, t)),
    listFact(t('buy.factNames.regions'), regions),
    kind !== 'topup' && listFact(t(`buy.factNames.${isEsim ? 'tier' : 'category'}`), subTypes),
    isEsim && listFact(t('buy.factNames.speeds'), [...new Set(speeds)].sort()),
    fact(t('buy.factNames.id'), id),
  ].filter((line) => line !== false)
}

function valueFact(offer: Offer, t: Texts): Html | undefined {
  const { kind, faceValue, price } = offer
  if (kind === 'esim') return undefined
  if (kind === 'topup') {
    return fact(t('buy.factNames.credited'), faceValue && moneyText(faceValue, t))
  }
  const name = price.type === 'RANGE' ? 'values' : 'value'
  return fact(t(`buy.factNames.${name}`), moneyText(faceValue ?? price, t))
}

function listFact(name: string, values: readonly string[]): Html | undefined {
  return values.length === 0 ? undefined : fact(name, values.join(', '))
}

function coverageList(coverage: readonly Coverage[], t: Texts): Html {
  const named = coverage
    .map(({ country, speeds }) => ({ name: countryName(country, t), speeds: speeds.join(', ') }))
    .sort((one, other) => one.name.localeCompare(other.name, t.language))
  const list = html`<ul class="coverage">
${named.map(
  ({ name, speeds }) => html`<li>${name} <small>${speeds}</small></li>
`,
)}</ul>`
  const isLong = named.length > maxCountries
  return html`<h3>${t('buy.coverage')}</h3>
${
  isLong
    ? html`<details><summary>${t('buy.coverageAll', { count: named.length })}</summary>${list}</details>`
    : list
}`
}

/** A text as the supplier sent it: blank lines separate paragraphs, and line breaks are kept. */
function textBlock(title: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== '')
  return html`<h3>${title}</h3>
${paragraphs.map(
  (part) => html`<p class="said" dir="auto">${part}</p>
`,
)}`
}

function productData(offer: Offer, price: PriceTexts, { site, t }: OfferDeps): object {
  const url = `${site.url}${buyPath(offer)}`
  const { notes, shortNotes } = offer
  const about = offer.kind === 'voucher' ? offer.description : undefined
  return {
    '@context': 'https://schema.org',
    '@type': 'Product',
    url,
    name: productName(offer, t),
    description: shortNotes ?? notes ?? about ?? productName(offer, t),
    brand: { '@type': 'Brand', name: offer.brandName },
    image: offer.kind === 'voucher' ? offer.image : undefined,
    offers: {
      ...priceFields(price),
      url,
      availability: `https://schema.org/${price.type === 'NOT_SOLD' ? 'OutOfStock' : 'InStock'}`,
    },
  }
}

/** An open value has no single price but bounds, which only an AggregateOffer can carry. */
function priceFields(price: PriceTexts): object {
  if (price.type === 'NOT_SOLD') return { '@type': 'Offer' }
  const priceCurrency = 'USD'
  if (price.type === 'FIXED') return { '@type': 'Offer', price: price.usdc, priceCurrency }
  const { minUsdc: lowPrice, maxUsdc: highPrice } = price
  return { '@type': 'AggregateOffer', lowPrice, highPrice, priceCurrency }
}
