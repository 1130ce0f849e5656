import type { FacetValue } from '../../api/shop/shop-facets.ts'
import type { ShopQuery } from '../../api/shop/shop-query.ts'
import type { ShopAnswer } from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'
import { bandForm } from './band-form.ts'
import { changed } from './search-address.ts'

/** A value that a facet offers, as it is shown. */
interface Choice {
  readonly name: string
  readonly offers: number
  /** Where the search with this value is, or without it when it is chosen. */
  readonly path: string
  readonly isChosen: boolean
}

/** More values than this are folded away. */
const choicesShown = 8
const maxChoices = 40

/** What the search can be narrowed to: links with counts, and one small form for bounds of one's own. */
export function facetList({ facets, kind }: ShopAnswer, asked: ShopQuery, texts: Texts): Html {
  const { search } = texts
  const query = { ...asked, kind }
  const named = (field: 'category' | 'region' | 'brand', values: readonly FacetValue[]) =>
    group(
      search.facets[field],
      detailsOf(values, query[field]).map(({ value, offers }) => ({
        name: value,
        offers,
        path: changed(query, { [field]: query[field] === value ? undefined : value }),
        isChosen: query[field] === value,
      })),
      texts,
    )
  return html`<details class="facets"><summary>${summaryOf(query, texts)}</summary>
<div class="facet-groups"><h2 class="hidden">${search.filters}</h2>
${named('category', facets.categories)}
${named('region', facets.regions)}
${bandGroup(facets.bands, query, texts)}
${group(search.facets.amount, amountChoices(facets.amounts, query, texts), texts)}
${named('brand', facets.brands)}
</div>
</details>`
}

/** Those that are listed: addresses of thousands that are not would take longer than the search. */
function detailsOf(values: readonly FacetValue[], chosen: string | undefined): FacetValue[] {
  const isChosen = ({ value }: FacetValue) => value === chosen
  return [...values.filter(isChosen), ...values.filter((one) => !isChosen(one))].slice(
    0,
    maxChoices,
  )
}

/** How many fields narrow a search beyond its words, its kind and its country. */
function summaryOf({ category, region, brand, min, max, amount }: ShopQuery, texts: Texts): string {
  const count = [category, region, brand, min ?? max, amount].filter(
    (value) => value !== undefined,
  ).length
  return count === 0 ? texts.search.filters : texts.search.filtersChosen(count)
}

function bandGroup(
  bands: ShopAnswer['facets']['bands'],
  query: ShopQuery,
  texts: Texts,
): Html | undefined {
  const choices = bands.map(({ value: { min, max }, offers }) => {
    const isChosen = query.min === min && query.max === max
    return {
      name: texts.search.band(min, max),
      offers,
      path: changed(query, isChosen ? { min: undefined, max: undefined } : { min, max }),
      isChosen,
    }
  })
  return group(texts.search.facets.band, choices, texts, bandForm({ query }, texts))
}

function amountChoices(
  amounts: ShopAnswer['facets']['amounts'],
  query: ShopQuery,
  { search }: Texts,
): Choice[] {
  return amounts.map(({ value, offers }) => ({
    name: search.amounts[value],
    offers,
    path: changed(query, { amount: query.amount === value ? undefined : value }),
    isChosen: query.amount === value,
  }))
}

/** A facet with one value only has nothing to choose. */
function group(
  name: string,
  choices: readonly Choice[],
  texts: Texts,
  form?: Html,
): Html | undefined {
  const hasChoice = choices.length > 1 || choices.some(({ isChosen }) => isChosen)
  if (!hasChoice && form === undefined) return undefined
  const chosenFirst = [...choices].sort(
    (one, other) => Number(other.isChosen) - Number(one.isChosen),
  )
  const shown = chosenFirst.slice(0, choicesShown)
  const rest = chosenFirst.slice(choicesShown, maxChoices)
  return html`<section class="facet"><h3>${name}</h3>
${links(shown, texts)}
${rest.length > 0 && html`<details class="rest"><summary>${texts.search.more(rest.length)}</summary>${links(rest, texts)}</details>`}
${form}</section>
`
}

function links(choices: readonly Choice[], { search, offers: words }: Texts): Html | undefined {
  if (choices.length === 0) return undefined
  return html`<ul>${choices.map(({ name, offers, path, isChosen }) => {
    const count = offers.toLocaleString(words.numbers)
    return isChosen
      ? html`<li><a href="${path}" aria-current="true"><span><span class="hidden">${search.chosen}: </span>${name}</span> <small>${count}</small></a></li>
`
      : html`<li><a href="${path}"><span>${name}</span> <small>${count}</small></a></li>
`
  })}</ul>`
}
