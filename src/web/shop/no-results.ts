import type { ShopField, ShopQuery } from '../../api/shop/shop-query.ts'
import type { ShopAnswer } from '../../api/shop/shop-search.ts'
import { countryName } from '../../catalog/countries.ts'
import { kinds } from '../../catalog/good.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { changed, searchPath } from './search-address.ts'

/** A result without offers: why, and ways on that all find something. */
export function nothingFound(query: ShopQuery, answer: ShopAnswer, texts: Texts): Html {
  const { search } = texts
  if (answer.total > 0) {
    return html`<div class="none"><h2 id="results">${search.none}</h2>
<p>${search.beyond(answer.pages)}</p>
<p class="act"><a class="button" href="${searchPath({ ...query, page: answer.pages })}">${search.lastPage}</a></p></div>`
  }
  const ways = [...changes(query, answer, texts), ...otherKinds(query, answer, texts)]
  return html`<div class="none"><h2 id="results">${search.none}</h2>
<p>${search.noneText}${ways.length > 0 && html` ${search.noneTry}`}</p>
<ul class="ways">${ways.map(
    ({ path, name }) => html`<li><a href="${path}">${name}</a></li>
`,
  )}<li><a href="/search?kind=${answer.kind}">${search.clearAll}</a></li></ul></div>`
}

interface Way {
  readonly path: string
  readonly name: string
}

/** The one field that emptied the result: with the nearest value that does not, and left out. */
function changes(query: ShopQuery, { change }: ShopAnswer, { search }: Texts): Way[] {
  if (change === undefined) return []
  const field = change.field as ShopField
  const { nearest } = change
  const instead =
    nearest === undefined
      ? []
      : [
          {
            path: changed(query, { [field]: nearest }),
            name: search.nearest(named(field, nearest, search)),
          },
        ]
  const given = named(field, String(query[field]), search)
  return [...instead, { path: changed(query, { [field]: undefined }), name: search.without(given) }]
}

function otherKinds(
  { q, country }: ShopQuery,
  { kind, kindCounts }: ShopAnswer,
  { search, home }: Texts,
): Way[] {
  return kinds
    .filter((each) => each !== kind && kindCounts[each] > 0)
    .map((each) => ({
      path: searchPath({ kind: each, q, country }),
      name: search.otherKind(search.kinds[each], home.count(kindCounts[each])),
    }))
}

function named(field: ShopField, value: string, search: Texts['search']): string {
  if (field === 'country') return countryName(value)
  if (field === 'amount') return search.amounts[value as keyof typeof search.amounts]
  if (field === 'min') return search.atLeast(value)
  if (field === 'max') return search.atMost(value)
  return value
}
