import type { ShopQuery } from '../../api/shop/shop-query.ts'
import type { ShopAnswer } from '../../api/shop/shop-search.ts'
import { kinds } from '../../catalog/good.ts'
import { type Html, html } from '../frame/html.ts'
import { searchPath } from '../paths.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'
import { dollars } from './money-text.ts'

/** A result without offers: the reason, and links to searches that all find something. */
export function nothingFound(query: ShopQuery, answer: ShopAnswer, t: Texts): Html {
  if (answer.total > 0) {
    return html`<div class="none"><h2 id="results">${t('search.none')}</h2>
<p>${t('search.beyond', { pages: answer.pages })}</p>
<p class="act"><a class="button" href="${searchPath({ ...query, page: answer.pages })}">${t('search.lastPage')}</a></p></div>`
  }
  const ways = [
    ...answer.ways.map((way) => ({ path: searchPath(way), name: changeIn(query, way, t) })),
    ...otherKinds(query, answer, t),
  ]
  return html`<div class="none"><h2 id="results">${t('search.none')}</h2>
<p>${t('search.noneText')}${ways.length > 0 && html` ${t('search.noneTry')}`}</p>
<ul class="ways">${ways.map(
    ({ path, name }) => html`<li><a href="${path}">${name}</a></li>
`,
  )}<li><a href="/search?kind=${answer.kind}">${t('search.clearAll')}</a></li></ul></div>`
}

function changeIn(query: ShopQuery, way: ShopQuery, t: Texts): string {
  const { country, brand, category, region, min, max, amount } = query
  if (way.q !== undefined && way.q !== query.q) return t('search.nearest', { value: way.q })
  const gone = [
    country !== way.country && country !== undefined && countryName(country, t),
    min !== way.min && min !== undefined && t('search.atLeast', { money: dollars(min, t) }),
    max !== way.max && max !== undefined && t('search.atMost', { money: dollars(max, t) }),
    amount !== way.amount && amount !== undefined && t(`search.amounts.${amount}`),
    brand !== way.brand && brand,
    category !== way.category && category,
    region !== way.region && region,
  ]
  return t('search.without', { name: gone.find((name) => name) || '' })
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
