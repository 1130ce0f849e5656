import type { ShopQuery, Sort } from '../../api/shop/shop-query.ts'
import { type ShopAnswer, shopPageSize } from '../../api/shop/shop-search.ts'
import { kinds } from '../../catalog/good.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { type Crumb, crumbTrail, type Page } from '../frame/layout.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'
import { brandGrid } from './brand-grid.ts'
import { facetList } from './facet-list.ts'
import { nothingFound } from './no-results.ts'
import { offerCards } from './offer-card.ts'
import { pager } from './pager.ts'
import { changed, isCategory, searchPath } from './search-address.ts'
import { searchForm } from './search-form.ts'

const brandsShown = 6

/** The results of a search, and everything to go on from there. */
export function searchPage(asked: ShopQuery, answer: ShopAnswer, deps: WebDeps): Page {
  const { t } = deps
  const query = { ...asked, kind: answer.kind }
  const title = titleOf(query, t)
  const path = searchPath(query)
  const crumbs = crumbsOf(query, t)
  const isKept = isCategory(asked) && answer.total > 0
  return {
    title,
    description: descriptionOf(query, answer, t),
    ...(isKept ? { path, crumbs, neighbours: neighboursOf(query, answer) } : {}),
    main: html`${crumbTrail(t('search.crumb'), t('frame.home'), crumbs)}
<h1 class="hidden">${title}</h1>
${searchForm({ query, kind: answer.kind, countries: answer.facets.countries.map(({ value }) => value) }, t)}
${kindTabs(query, answer, t)}
<div class="found">
${facetList(answer, asked, t)}
<section class="results" aria-labelledby="results">
${resultsOf(query, answer, deps)}
</section>
</div>`,
  }
}

function resultsOf(query: ShopQuery, answer: ShopAnswer, deps: WebDeps): Html {
  const { t } = deps
  if (answer.offers.length === 0) return nothingFound(query, answer, t)
  const first = (answer.page - 1) * shopPageSize + 1
  return html`<div class="results-head">
<h2 id="results">${titleOf(query, t)} <small>${t('search.range', { from: first, to: first + answer.offers.length - 1, total: answer.total })}</small></h2>
${sortLinks(query, t)}
</div>
${brandRow(query, answer, t)}
<ul class="offer-list">
${offerCards(answer.offers, deps)}</ul>
${pager(query, answer, t)}`
}

/** On the first page of a category, where everything of one brand stands together: a way to the others. */
function brandRow(
  query: ShopQuery,
  { kind, page, facets }: ShopAnswer,
  t: Texts,
): Html | undefined {
  const isNarrow = query.q !== undefined || query.brand !== undefined || page > 1
  if (isNarrow || facets.brands.length <= brandsShown) return undefined
  return brandGrid(facets.brands.slice(0, brandsShown), t, (brand) => ({
    path: changed(query, { brand }),
    kind,
  }))
}

function titleOf({ kind = 'voucher', q, brand, country }: ShopQuery, t: Texts): string {
  const place = country === undefined ? undefined : countryName(country, t)
  const name = t(`kinds.${kind}.title`)
  const words = q ?? brand
  if (words === undefined) {
    return place === undefined ? name : t('search.title.place', { kind: name, place })
  }
  return place === undefined
    ? t('search.title.words', { words, kind: name })
    : t('search.title.both', { words, kind: name, place })
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

/** The other kinds, with what the same words and the same country find there. */
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
  const sorts = ['match', 'low', 'high'] as const satisfies readonly Sort[]
  return html`<nav class="sorts" aria-label="${t('search.sort')}"><ul>
${sorts.map((sort) => {
  const current = sort === (query.sort ?? 'match') && html` aria-current="true"`
  return html`<li><a href="${changed(query, { sort })}"${current}>${t(`search.sorts.${sort}`)}</a></li>
`
})}</ul></nav>`
}

function crumbsOf({ kind = 'voucher', country }: ShopQuery, t: Texts): Crumb[] {
  const liveCatalog = { name: t(`kinds.${kind}.title`), path: searchPath({ kind }) }
  if (country === undefined) return [liveCatalog]
  return [liveCatalog, { name: countryName(country, t), path: searchPath({ kind, country }) }]
}

function neighboursOf(query: ShopQuery, { page, pages }: ShopAnswer): Page['neighbours'] {
  return {
    prev: page > 1 ? searchPath({ ...query, page: page - 1 }) : undefined,
    next: page < pages ? searchPath({ ...query, page: page + 1 }) : undefined,
  }
}
