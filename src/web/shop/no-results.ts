import type { ShopField, ShopQuery } from '../../api/shop/shop-query.ts'
import type { ShopAnswer } from '../../api/shop/shop-search.ts'
import { kinds } from '../../catalog/good.ts'
import type { AmountKind } from '../../catalog/search/face-values.ts'
import { type Html, html } from '../frame/html.ts'
import { changed, searchPath } from '../paths.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'
import { dollars } from './money-text.ts'
import { searchTitle } from './offer-words.ts'

/** A result without offers: the reason, and links to searches that all find something. */
export function nothingFound(query: ShopQuery, answer: ShopAnswer, t: Texts): Html {
  if (answer.total > 0) {
    return html`<div class="none"><h2 id="results">${t('search.none')}</h2>
<p>${t('search.beyond', { pages: answer.pages })}</p>
<p class="act"><a class="button" href="${searchPath({ ...query, page: answer.pages })}">${t('search.lastPage')}</a></p></div>`
  }
  const ways = [
    ...sentence(answer, t),
    ...changes(query, answer, t),
    ...otherKinds(query, answer, t),
  ]
  return html`<div class="none"><h2 id="results">${t('search.none')}</h2>
<p>${t('search.noneText')}${ways.length > 0 && html` ${t('search.noneTry')}`}</p>
<ul class="ways">${ways.map(
    ({ path, name }) => html`<li><a href="${path}">${name}</a></li>
`,
  )}<li><a href="/search?kind=${answer.kind}">${t('search.clearAll')}</a></li></ul></div>`
}

interface Way {
  readonly path: string
  readonly name: string
}

/** The search that the words ask for if they are a sentence. */
function sentence({ understood }: ShopAnswer, t: Texts): Way[] {
  if (understood === undefined) return []
  return [
    {
      path: searchPath(understood),
      name: t('search.understood', { title: searchTitle(understood, t) }),
    },
  ]
}

/** The one field that leaves no results: links with the nearest value that has results, and without the field. */
function changes(query: ShopQuery, { change }: ShopAnswer, t: Texts): Way[] {
  if (change === undefined) return []
  const field = change.field as ShopField
  const { nearest } = change
  const instead =
    nearest === undefined
      ? []
      : [
          {
            path: changed(query, { [field]: nearest }),
            name: t('search.nearest', { value: named(field, nearest, t) }),
          },
        ]
  const given = named(field, String(query[field]), t)
  return [
    ...instead,
    { path: changed(query, { [field]: undefined }), name: t('search.without', { name: given }) },
  ]
}

function otherKinds({ q, country }: ShopQuery, { kind, kindCounts }: ShopAnswer, t: Texts): Way[] {
  return kinds
    .filter((each) => each !== kind && kindCounts[each] > 0)
    .map((each) => ({
      path: searchPath({ kind: each, q, country }),
      name: t('search.otherKind', { kind: t(`search.kinds.${each}`), count: kindCounts[each] }),
    }))
}

function named(field: ShopField, value: string, t: Texts): string {
  if (field === 'country') return countryName(value, t)
  if (field === 'amount') return t(`search.amounts.${value as AmountKind}`)
  if (field === 'min') return t('search.atLeast', { money: dollars(Number(value), t) })
  if (field === 'max') return t('search.atMost', { money: dollars(Number(value), t) })
  return value
}
