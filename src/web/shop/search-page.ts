import type { ShopQuery } from '../../api/shop/shop-query.ts'
import { type ShopAnswer, shopPageSize } from '../../api/shop/shop-search.ts'
import { countryName } from '../../catalog/countries.ts'
import { kinds } from '../../catalog/good.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { type Crumb, crumbTrail, type Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
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
  const { texts } = deps
  const query = { ...asked, kind: answer.kind }
  const title = titleOf(query, texts)
  const path = searchPath(query)
  const crumbs = crumbsOf(query, texts)
  const isKept = isCategory(asked) && answer.total > 0
  return {
    title,
    description: texts.search.description(
      texts.homeKinds[answer.kind].name,
      texts.home.count(answer.total),
      query.country && countryName(query.country),
    ),
    ...(isKept ? { path, crumbs, neighbours: neighboursOf(query, answer) } : {}),
    main: html`${crumbTrail(texts.search.crumb, texts.frame.home, crumbs)}
<h1 class="hidden">${title}</h1>
${searchForm({ query, kind: answer.kind, countries: answer.facets.countries.map(({ value }) => value) }, texts)}
${kindTabs(query, answer, texts)}
<div class="found">
${facetList(answer, asked, texts)}
<section class="results" aria-labelledby="results">
${resultsOf(query, answer, deps)}
</section>
</div>`,
  }
}

function resultsOf(query: ShopQuery, answer: ShopAnswer, deps: WebDeps): Html {
  const { texts } = deps
  if (answer.offers.length === 0) return nothingFound(query, answer, texts)
  const first = (answer.page - 1) * shopPageSize + 1
  const total = answer.total.toLocaleString(texts.offers.numbers)
  return html`<div class="results-head">
<h2 id="results">${titleOf(query, texts)} <small>${texts.search.range(first, first + answer.offers.length - 1, total)}</small></h2>
${sortLinks(query, texts)}
</div>
${brandRow(query, answer, texts)}
<ul class="offer-list">
${offerCards(answer.offers, deps)}</ul>
${pager(query, answer, texts)}`
}

/** On the first page of a category, where everything of one brand stands together: a way to the others. */
function brandRow(
  query: ShopQuery,
  { kind, page, facets }: ShopAnswer,
  texts: Texts,
): Html | undefined {
  const isNarrow = query.q !== undefined || query.brand !== undefined || page > 1
  if (isNarrow || facets.brands.length <= brandsShown) return undefined
  return brandGrid(facets.brands.slice(0, brandsShown), texts, (brand) => ({
    path: changed(query, { brand }),
    kind,
  }))
}

function titleOf({ kind = 'voucher', q, brand, country }: ShopQuery, texts: Texts): string {
  const place = country === undefined ? undefined : countryName(country)
  return texts.search.title(texts.homeKinds[kind].name, place, q ?? brand)
}

/** The other kinds, with what the same words and the same country find there. */
function kindTabs({ q, country }: ShopQuery, { kind, kindCounts }: ShopAnswer, texts: Texts): Html {
  return html`<nav class="tabs" aria-label="${texts.search.kindTabs}"><ul>
${kinds.map((each) => {
  const current = each === kind && html` aria-current="page"`
  const count = kindCounts[each].toLocaleString(texts.offers.numbers)
  return html`<li><a href="${searchPath({ kind: each, q, country })}"${current}>${texts.search.kinds[each]} <small>${count}</small></a></li>
`
})}</ul></nav>`
}

function sortLinks(query: ShopQuery, { search }: Texts): Html {
  const sorts = ['match', 'low', 'high'] as const
  return html`<nav class="sorts" aria-label="${search.sort}"><ul>
${sorts.map((sort) => {
  const current = sort === (query.sort ?? 'match') && html` aria-current="true"`
  return html`<li><a href="${changed(query, { sort })}"${current}>${search.sorts[sort]}</a></li>
`
})}</ul></nav>`
}

function crumbsOf({ kind = 'voucher', country }: ShopQuery, texts: Texts): Crumb[] {
  const liveCatalog = { name: texts.homeKinds[kind].name, path: searchPath({ kind }) }
  if (country === undefined) return [liveCatalog]
  return [liveCatalog, { name: countryName(country), path: searchPath({ kind, country }) }]
}

function neighboursOf(query: ShopQuery, { page, pages }: ShopAnswer): Page['neighbours'] {
  return {
    prev: page > 1 ? searchPath({ ...query, page: page - 1 }) : undefined,
    next: page < pages ? searchPath({ ...query, page: page + 1 }) : undefined,
  }
}
