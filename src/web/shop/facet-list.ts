import type {
  FacetValue,
  FieldFault,
  ShopAnswer,
  ShopField,
  ShopQuery,
} from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import { changed } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { dollars } from './money-text.ts'
import { faultText, faultTies, faultWords } from './search-form.ts'

interface Choice {
  readonly name: string
  readonly offers: number
  /** The path of the search with this value, or without it if it is chosen. */
  readonly path: string
  readonly isChosen: boolean
}

const choicesShown = 8
const maxChoices = 40

/** The filters of a search: links with counts, and a small form for other bounds of the face value. */
export function facetList({ facets, kind }: ShopAnswer, asked: ShopQuery, t: Texts): Html {
  const query = { ...asked, kind }
  const named = (field: 'category' | 'region' | 'brand', values: readonly FacetValue[]) =>
    group(
      t(`search.facets.${field}`),
      detailsOf(values, query[field]).map(({ value, offers }) => ({
        name: value,
        offers,
        path: changed(query, { [field]: query[field] === value ? undefined : value }),
        isChosen: query[field] === value,
      })),
      t,
    )
  return html`<details class="facets"><summary>${summaryOf(query, t)}</summary>
<div class="facet-groups"><h2 class="hidden">${t('search.filters')}</h2>
${named('category', facets.categories)}
${named('region', facets.regions)}
${bandGroup(facets.bands, query, t)}
${group(t('search.facets.amount'), amountChoices(facets.amounts, query, t), t)}
${named('brand', facets.brands)}
</div>
</details>`
}

/** The values that are listed. Making links for thousands of others would take longer than the search. */
function detailsOf(values: readonly FacetValue[], chosen: string | undefined): FacetValue[] {
  const isChosen = ({ value }: FacetValue) => value === chosen
  return [...values.filter(isChosen), ...values.filter((one) => !isChosen(one))].slice(
    0,
    maxChoices,
  )
}

/** The heading, with the number of filters that are set besides words, kind and country. */
function summaryOf({ category, region, brand, min, max, amount }: ShopQuery, t: Texts): string {
  const count = [category, region, brand, min ?? max, amount].filter(
    (value) => value !== undefined,
  ).length
  return count === 0 ? t('search.filters') : t('search.filtersChosen', { count })
}

function bandGroup(
  bands: ShopAnswer['facets']['bands'],
  query: ShopQuery,
  t: Texts,
): Html | undefined {
  const choices = bands.map(({ value: { min, max }, offers }) => {
    const isChosen = query.min === min && query.max === max
    return {
      name: bandName(min, max, t),
      offers,
      path: changed(query, isChosen ? { min: undefined, max: undefined } : { min, max }),
      isChosen,
    }
  })
  return group(t('search.facets.band'), choices, t, bandForm({ query }, t))
}

function bandName(min: number, max: number | undefined, t: Texts): string {
  const least = dollars(min, t)
  return max === undefined
    ? t('search.bandAbove', { min: least })
    : t('offers.range', { least, most: dollars(max, t) })
}

function amountChoices(
  amounts: ShopAnswer['facets']['amounts'],
  query: ShopQuery,
  t: Texts,
): Choice[] {
  return amounts.map(({ value, offers }) => ({
    name: t(`search.amounts.${value}`),
    offers,
    path: changed(query, { amount: query.amount === value ? undefined : value }),
    isChosen: query.amount === value,
  }))
}

/** One facet; undefined if it has only one value, because there is nothing to choose. */
function group(name: string, choices: readonly Choice[], t: Texts, form?: Html): Html | undefined {
  const hasChoice = choices.length > 1 || choices.some(({ isChosen }) => isChosen)
  if (!hasChoice && form === undefined) return undefined
  const chosenFirst = [...choices].sort(
    (one, other) => Number(other.isChosen) - Number(one.isChosen),
  )
  const shown = chosenFirst.slice(0, choicesShown)
  const rest = chosenFirst.slice(choicesShown, maxChoices)
  return html`<section class="facet"><h3>${name}</h3>
${links(shown, t)}
${rest.length > 0 && html`<details class="rest"><summary>${t('search.more', { count: rest.length })}</summary>${links(rest, t)}</details>`}
${form}</section>
`
}

function links(choices: readonly Choice[], t: Texts): Html | undefined {
  if (choices.length === 0) return undefined
  return html`<ul>${choices.map(({ name, offers, path, isChosen }) => {
    const count = t.number(offers)
    return isChosen
      ? html`<li><a href="${path}" aria-current="true"><span><span class="hidden">${t('search.chosen')}: </span>${name}</span> <small>${count}</small></a></li>
`
      : html`<li><a href="${path}"><span>${name}</span> <small>${count}</small></a></li>
`
  })}</ul>`
}

const kept = ['kind', 'q', 'country', 'brand', 'category', 'region', 'amount', 'sort'] as const

interface BandFormParts {
  readonly query: ShopQuery
  readonly faults?: ReadonlyMap<ShopField, FieldFault>
}

/** The form for other bounds of the face value. It keeps the rest of the search. */
export function bandForm(asked: BandFormParts, t: Texts): Html {
  const { query } = asked
  return html`<form class="band" action="/search" method="get">
${kept.map((name) => query[name] !== undefined && html`<input type="hidden" name="${name}" value="${query[name]}">`)}
${boundField('min', t('search.bandFrom'), asked, t)}
${boundField('max', t('search.bandTo'), asked, t)}
<button class="button small" type="submit">${t('search.bandSet')}</button>
</form>`
}

function boundField(
  name: 'min' | 'max',
  label: string,
  { query, faults }: BandFormParts,
  t: Texts,
): Html {
  const fault = faults?.get(name)
  const value = fault?.given ?? query[name] ?? ''
  return html`<div class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="text" inputmode="decimal" autocomplete="off" value="${value}"${faultTies(name, fault)}>
${fault && faultText(name, faultWords(name, fault, t))}</div>`
}
