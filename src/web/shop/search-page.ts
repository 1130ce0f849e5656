import type { FastifyInstance } from 'fastify'
import {
  countriesIn,
  type FieldFault,
  type ReadShopQuery,
  readShopQuery,
  type ShopAnswer,
  type ShopField,
  type ShopQuery,
  shopPageSize,
  shopSearch,
  sorts,
  type UnderstoodPart,
} from '../../api/shop/shop-search.ts'
import { kindOf, kinds, type Offer } from '../../catalog/offer.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { maxQuery, queryOf } from '../../http/call.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { type Crumb, crumbTrail, type Page } from '../frame/layout.ts'
import type { PageSenders } from '../frame/senders.ts'
import { buyPath, changed, isCategory, searchPath, withoutDefaults } from '../paths.ts'
import { countryName, type Texts } from '../texts/texts.ts'
import { reads } from '../visitor.ts'
import { brandGrid, cardFace } from './card-face.ts'
import { priceTexts, shortPrice } from './money-text.ts'
import { apart, placeName, whatOf } from './offer-words.ts'
import { bandForm, facetList, faultText, searchForm } from './search-form.ts'

/**
 * Routes the search. Its pages are cached by their meaning until the catalog or its prices change: unknown parameters
 * and other spellings make no further page. A faulty query is not searched for; its faults are shown beside their
 * fields, with the same status as in the APIs.
 */
export function routeSearch(pages: FastifyInstance, senders: PageSenders, deps: WebDeps): void {
  pages.get('/search', reads, (request, reply) => {
    const catalog = deps.liveCatalog.current()
    const sent = new URLSearchParams(queryOf(request.raw.url ?? '').slice(0, maxQuery))
    const searched = readShopQuery(sent, catalog.sold)
    if (searched.faults.size > 0) {
      return senders.send(request, reply.code(400), searchFaultPage(searched, deps))
    }
    // The page is kept for every spelling of the search, so it must not depend on what its path leaves out.
    const query = withoutDefaults(searched.query)
    const page = () => searchPage(query, shopSearch(catalog, query), deps)
    return senders.sendKept(request, reply, searchPath(query), page)
  })
}

const maxBrands = 6

function searchPage(shopQuery: ShopQuery, answer: ShopAnswer, deps: WebDeps): Page {
  const { t } = deps
  const query = { ...shopQuery, kind: answer.kind }
  const title = searchTitle(query, t)
  const isKept = isCategory(shopQuery) && answer.total > 0
  return {
    title,
    description: descriptionOf(query, answer, t),
    ...(isKept ? { path: searchPath(query) } : {}),
    main: html`${crumbTrail(crumbsOf(query, t), t)}
<h1 class="hidden">${title}</h1>
${searchForm({ query }, countriesIn(deps.liveCatalog.current().sold), t)}
${understoodParts(query, answer, t)}
${kindTabs(query, answer, t)}
<div class="found">
${facetList(answer, shopQuery, t)}
<section class="results" aria-labelledby="results">
${resultsOf(query, answer, deps)}
</section>
</div>`,
  }
}

function searchTitle({ kind = 'voucher', q, brand, country }: ShopQuery, t: Texts): string {
  const place = country && countryName(country, t)
  const name = t(`kinds.${kind}.title`)
  const words = q ?? brand
  if (words === undefined) return place ? t('search.title.place', { kind: name, place }) : name
  return place
    ? t('search.title.both', { words, kind: name, place })
    : t('search.title.words', { words, kind: name })
}

function resultsOf(query: ShopQuery, answer: ShopAnswer, deps: WebDeps): Html {
  const { t } = deps
  if (answer.offers.length === 0) return noMatches(query, answer, t)
  const first = (answer.page - 1) * shopPageSize + 1
  return html`<div class="results-head">
<h2 id="results">${searchTitle(query, t)} <small>${t('search.range', { from: first, to: first + answer.offers.length - 1, total: answer.total })}</small></h2>
${sortLinks(query, t)}
</div>
${brandRow(query, answer, t)}
<ul class="offer-list">
${offerCards(answer.offers, deps)}</ul>
${pager(query, answer, t)}`
}

/**
 * Links to the largest brands, on the first page of a search without words and brand: it lists offers brand by brand.
 */
function brandRow(query: ShopQuery, { page, facets }: ShopAnswer, t: Texts): Html | undefined {
  const isNarrow = query.q !== undefined || query.brand !== undefined || page > 1
  if (isNarrow || facets.brands.length <= maxBrands) return undefined
  return brandGrid(facets.brands.slice(0, maxBrands), t, (brand) => changed(query, { brand }))
}

function descriptionOf(
  { country }: ShopQuery,
  { kind, total: count }: ShopAnswer,
  t: Texts,
): string {
  const name = t(`kinds.${kind}.title`)
  return country === undefined
    ? t('search.description', { kind: name, count })
    : t('search.description.place', { kind: name, place: countryName(country, t), count })
}

/** Tabs for the kinds, with the number of results for the same words and the same country. */
function kindTabs({ q, country }: ShopQuery, { kind, kindCounts }: ShopAnswer, t: Texts): Html {
  return html`<nav class="tabs" aria-label="${t('search.kindTabs')}"><ul>
${kinds.map((each) => {
  const current = each === kind && html` aria-current="page"`
  const count = t.number(kindCounts[each])
  return html`<li><a href="${searchPath({ kind: each, q, country })}"${current}>${t(`search.kinds.${each}`)} <small>${count}</small></a></li>
`
})}</ul></nav>`
}

function sortLinks(query: ShopQuery, t: Texts): Html {
  return html`<nav class="sorts" aria-label="${t('search.sort')}"><ul>
${sorts.map((sort) => {
  const current = sort === (query.sort ?? 'match') && html` aria-current="true"`
  return html`<li><a href="${changed(query, { sort })}"${current}>${t(`search.sorts.${sort}`)}</a></li>
`
})}</ul></nav>`
}

function crumbsOf({ kind = 'voucher', country }: ShopQuery, t: Texts): Crumb[] {
  const ofKind = { name: t(`kinds.${kind}.title`), path: searchPath({ kind }) }
  if (country === undefined) return [ofKind]
  return [ofKind, { name: countryName(country, t), path: searchPath({ kind, country }) }]
}

/** The forms with everything that was typed, and the faults. It is not cached: there is no limit to such URLs. */
function searchFaultPage({ query, faults }: ReadShopQuery, deps: WebDeps): Page {
  const { t, liveCatalog } = deps
  const countries = countriesIn(liveCatalog.current().sold)
  return {
    title: t('search.faultTitle'),
    description: t('search.faultLead'),
    main: html`${crumbTrail([], t)}
<h1 class="hidden">${t('search.faultTitle')}</h1>
${searchForm({ query, faults }, countries, t)}
${faultSummary(faults, t)}
${bandForm({ query, faults }, t)}`,
  }
}

/** The fields of the two forms, which show their faults themselves. */
const inForms: readonly ShopField[] = ['q', 'country', 'min', 'max']

function faultSummary(faults: ReadonlyMap<ShopField, FieldFault>, t: Texts): Html {
  return html`<section class="faults" role="alert" aria-labelledby="faults">
<h2 id="faults">${t('search.faultTitle')}</h2>
<p>${t('search.faultLead')}</p>
<ul>
${[...faults].map(([field, fault]) => {
  const text = faultText(field, fault, t)
  const isInForm = inForms.includes(field)
  return html`<li>${isInForm ? html`<a href="#${field}">${text}</a>` : text}</li>
`
})}</ul>
</section>`
}

function pager(
  query: ShopQuery,
  { page, pages }: Pick<ShopAnswer, 'page' | 'pages'>,
  t: Texts,
): Html | undefined {
  if (pages === 1) return undefined
  const at = (number: number) => searchPath({ ...query, page: number })
  return html`<nav class="pager" aria-label="${t('search.pages')}">
${page > 1 ? html`<a class="button quiet" rel="prev" href="${at(page - 1)}">${t('search.previous')}</a>` : html`<span></span>`}
<span>${t('search.page', { page, pages })}</span>
${page < pages ? html`<a class="button quiet" rel="next" href="${at(page + 1)}">${t('search.next')}</a>` : html`<span></span>`}
</nav>`
}

/** The cards of offers in a list, no two with the same text. */
export function offerCards(offers: readonly Offer[], { pricing, t }: WebDeps): Html[] {
  const cardTexts = (offer: Offer) => ({
    brand: offer.brandName,
    what: whatOf(offer, t),
    place: placeName(offer, t),
    note: kindOf(offer).fairUseOf?.(offer),
  })
  const numberOf = apart(offers, (offer) => Object.values(cardTexts(offer)).join('\n'))
  return offers.map((offer) => {
    const { brand, what, place, note } = cardTexts(offer)
    const id = numberOf(offer)
    return html`<li><a class="offer-card" href="${buyPath(offer)}">${cardFace(brand)}
<span class="told"><b>${brand}</b> <span>${what}</span> <span class="where">${place}</span>${note && html` <span class="where">${note}</span>`}${id && html` <span class="where">${t('offers.number', { id })}</span>`}</span>
<span class="costs">${shortPrice(priceTexts(retailOf(offer, pricing), t), t)}</span></a></li>
`
  })
}

/** How the words of a search were understood: each part with a link to the search without it; and what was left out. */
function understoodParts(
  query: ShopQuery,
  { understood, leftOut }: ShopAnswer,
  t: Texts,
): Html | undefined {
  if (query.q === undefined || understood.length + leftOut.length === 0) return undefined
  return html`<div class="understood">
${
  understood.length > 0 &&
  html`<ul aria-label="${t('search.understood')}">${understood.map(
    (one) =>
      html`<li><a href="${changed(query, { q: one.without })}"><span class="hidden">${t('search.remove')}: </span>${nameOf(one, t)}</a></li>
`,
  )}</ul>`
}
${leftOut.length > 0 && html`<p class="note">${t('search.leftOut', { words: leftOut.map((word) => `“${word}”`).join(', ') })}</p>`}
</div>`
}

function nameOf({ part, brand }: UnderstoodPart, t: Texts): string {
  if (part.isExcluded) return part.text
  switch (part.type) {
    case 'brand':
      return brand ?? part.text
    case 'country':
      return countryName(part.code, t)
    case 'kind':
      return t(`search.kinds.${part.kind}`)
    case 'phone': {
      const place = part.country === undefined ? undefined : countryName(part.country, t)
      return [part.operator, place].filter(Boolean).join(', ') || part.text
    }
    default:
      return part.text
  }
}

/** A result without offers: the reason, and links to the kinds that have some. */
function noMatches(query: ShopQuery, answer: ShopAnswer, t: Texts): Html {
  if (answer.total > 0) {
    return html`<div class="none"><h2 id="results">${t('search.none')}</h2>
<p>${t('search.beyond', { pages: answer.pages })}</p>
<p class="act"><a class="button" href="${searchPath({ ...query, page: answer.pages })}">${t('search.lastPage')}</a></p></div>`
  }
  const ways = otherKinds(query, answer, t)
  return html`<div class="none"><h2 id="results">${t('search.none')}</h2>
<p>${t('search.noneText')}${ways.length > 0 && html` ${t('search.noneTry')}`}</p>
<ul class="ways">${ways.map(
    ({ path, name }) => html`<li><a href="${path}">${name}</a></li>
`,
  )}<li><a href="/search?kind=${answer.kind}">${t('search.clearAll')}</a></li></ul></div>`
}

function otherKinds(query: ShopQuery, { kind, kindCounts }: ShopAnswer, t: Texts) {
  const { q, country } = query
  return kinds
    .filter((each) => each !== kind && kindCounts[each] > 0)
    .map((each) => ({
      path: searchPath({ kind: each, q, country }),
      name: t('search.otherKind', { kind: t(`search.kinds.${each}`), count: kindCounts[each] }),
    }))
}
