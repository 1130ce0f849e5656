import type {
  FacetValue,
  FieldFault,
  ShopAnswer,
  ShopField,
  ShopQuery,
} from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import { countryList, type Field, fieldHtml } from '../frame/parts.ts'
import { changed, paramsOf } from '../paths.ts'
import { countryName, type Texts } from '../texts/texts.ts'
import { dollars } from './money-text.ts'

interface Searched {
  readonly query: ShopQuery
  readonly faults?: ReadonlyMap<ShopField, FieldFault>
}

/** The search over all kinds: a form that needs no script and does not locate the visitor. */
export function searchForm(searched: Searched, countries: readonly string[], t: Texts): Html {
  const { query, faults } = searched
  const words = fieldOf('q', searched, t, {
    type: 'search',
    placeholder: t('search.qExample'),
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
  })
  const value = query.country ?? faults?.get('country')?.didYouMean ?? ''
  const country = { ...fieldOf('country', searched, t), value }
  const codes = [...countries, value]
  return html`<form class="finder" role="search" action="/search" method="get" aria-label="${t('search.form')}">
<div class="finder-fields">
${fieldHtml(words, t)}
${fieldHtml(country, t, countryList(country, t('search.anyCountry'), t, codes))}
<button class="button" type="submit">${t('search.submit')}</button>
</div>
</form>`
}

function fieldOf(
  name: 'q' | 'country' | 'min' | 'max',
  { query, faults }: Searched,
  t: Texts,
  attributes: Readonly<Record<string, string>> = {},
): Field {
  const fault = faults?.get(name)
  return {
    name,
    label: t(`search.${name}`),
    value: String(fault?.typed ?? query[name] ?? ''),
    fault: fault && faultText(name, fault, t),
    attributes,
  }
}

/** What is wrong with a field, for people. */
export function faultText(
  field: ShopField,
  { typed, didYouMean: meant }: FieldFault,
  t: Texts,
): string {
  switch (field) {
    case 'q':
    case 'brand':
      return t(`search.faults.${field}`)
    case 'country':
      return meant === undefined
        ? t('search.faults.country', { given: typed })
        : t('search.faults.country.code', { given: typed, meant: countryName(meant, t) })
    case 'min':
    case 'max':
      return Number(meant) > Number(typed)
        ? t('search.faults.max', { given: typed, meant: meant ?? '' })
        : orMeant(t('search.faults.bound', { given: typed }), meant, t)
    default:
      return orMeant(t(`search.faults.${field}`, { given: typed }), meant, t)
  }
}

function orMeant(fault: string, meant: string | undefined, t: Texts): string {
  return meant === undefined ? fault : `${fault} ${t('search.didYouMean', { meant })}`
}

interface Choice {
  readonly name: string
  readonly offers: number
  /** The path of the search with this value, or without it if it is chosen. */
  readonly path: string
  readonly isChosen: boolean
}

const openChoices = 8
const maxChoices = 40

/** The filters of a search: links with counts, and a small form for other bounds of the face value. */
export function facetList({ facets, kind }: ShopAnswer, shopQuery: ShopQuery, t: Texts): Html {
  const query = { ...shopQuery, kind }
  const facet = <Name extends 'category' | 'region' | 'brand' | 'amount'>(
    name: Name,
    values: readonly FacetValue[],
    nameOf = (value: string) => value,
  ) => {
    const isChosen = ({ value }: FacetValue) => query[name] === value
    // Making links for thousands of values would take longer than the search.
    const sortedValues = [...values.filter(isChosen), ...values.filter((one) => !isChosen(one))]
    const choices = sortedValues.slice(0, maxChoices).map((one) => ({
      name: nameOf(one.value),
      offers: one.offers,
      path: changed(query, { [name]: isChosen(one) ? undefined : one.value }),
      isChosen: isChosen(one),
    }))
    return group(t(`search.facets.${name}`), choices, t)
  }
  const { category, region, brand, min, max, amount } = query
  const set = [category, region, brand, min ?? max, amount].filter((value) => value !== undefined)
  return html`<details class="facets"><summary>${set.length === 0 ? t('search.filters') : t('search.filtersChosen', { count: set.length })}</summary>
<div class="facet-groups"><h2 class="hidden">${t('search.filters')}</h2>
${facet('category', facets.categories)}
${facet('region', facets.regions)}
${group(t('search.facets.band'), bandChoices(facets.bands, query, t), t, bandForm({ query }, t))}
${facet('amount', facets.amounts, (value) => t(`search.amounts.${value as 'fixed' | 'open'}`))}
${facet('brand', facets.brands)}
</div>
</details>`
}

function bandChoices(
  bands: ShopAnswer['facets']['bands'],
  query: ShopQuery,
  t: Texts,
): readonly Choice[] {
  return bands.map(({ value: { min, max }, offers }) => {
    const isChosen = query.min === min && query.max === max
    const least = dollars(min, t)
    return {
      name:
        max === undefined
          ? t('search.bandAbove', { min: least })
          : t('offers.range', { least, most: dollars(max, t) }),
      offers,
      path: changed(query, isChosen ? { min: undefined, max: undefined } : { min, max }),
      isChosen,
    }
  })
}

/** One facet; undefined if it has only one value, because there is nothing to choose. */
function group(name: string, choices: readonly Choice[], t: Texts, form?: Html): Html | undefined {
  const hasChoice = choices.length > 1 || choices.some(({ isChosen }) => isChosen)
  if (!hasChoice && form === undefined) return undefined
  const rest = choices.slice(openChoices)
  return html`<section class="facet"><h3>${name}</h3>
${choices.length > 0 && links(choices.slice(0, openChoices), t)}
${rest.length > 0 && html`<details class="rest"><summary>${t('search.more', { count: rest.length })}</summary>${links(rest, t)}</details>`}
${form}</section>
`
}

function links(choices: readonly Choice[], t: Texts): Html {
  return html`<ul>${choices.map(({ name, offers, path, isChosen }) => {
    const current = isChosen && html` aria-current="true"`
    const chosen = isChosen && html`<span class="hidden">${t('search.chosen')}: </span>`
    return html`<li><a href="${path}"${current}><span>${chosen}${name}</span> <small>${t.number(offers)}</small></a></li>
`
  })}</ul>`
}

/** The form for other bounds of the face value. It keeps the rest of the search. */
export function bandForm(searched: Searched, t: Texts): Html {
  const { query } = searched
  const bound = (name: 'min' | 'max') =>
    fieldHtml(fieldOf(name, searched, t, { inputmode: 'decimal', autocomplete: 'off' }), t)
  return html`<form class="band" action="/search" method="get">
${[...paramsOf({ ...query, min: undefined, max: undefined, page: 1 })].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
${bound('min')}
${bound('max')}
<button class="button" type="submit">${t('search.bandSet')}</button>
</form>`
}
