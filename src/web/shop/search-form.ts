import type { FieldFault, ShopField, ShopQuery } from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import { countriesByName, countryName } from '../texts/countries.ts'
import { once } from '../texts/once.ts'
import type { Texts } from '../texts/texts.ts'

interface SearchForm {
  readonly query: ShopQuery
  /** Codes of the countries to choose from. */
  readonly countries: readonly string[]
  readonly faults?: ReadonlyMap<ShopField, FieldFault>
}

/** The search over all kinds: a form that needs no script and does not locate the visitor. */
export function searchForm(form: SearchForm, t: Texts): Html {
  return html`<form class="finder" role="search" action="/search" method="get" aria-label="${t('search.form')}">
<div class="finder-fields">
${wordsField(form, t)}
${countryField(form, t)}
<button class="button" type="submit">${t('search.submit')}</button>
</div>
</form>`
}

function wordsField({ query, faults }: SearchForm, t: Texts): Html {
  const fault = faults?.get('q')
  const value = fault?.given ?? query.q ?? ''
  return html`<div class="field words"><label for="q">${t('search.q')}</label>
<input id="q" name="q" type="search" value="${value}" placeholder="${t('search.qExample')}" autocomplete="off" spellcheck="false" enterkeyhint="search"${faultTies('q', fault)}>
${fault && faultText('q', faultWords('q', fault, t))}</div>`
}

function countryField({ query, countries, faults }: SearchForm, t: Texts): Html {
  const fault = faults?.get('country')
  const chosen = query.country ?? fault?.didYouMean
  const shown = new Set([...countries, chosen])
  return html`<div class="field place"><label for="country">${t('search.country')}</label>
<select id="country" name="country"${faultTies('country', fault)}>
<option value="">${t('search.anyCountry')}</option>
${countryOptions(t).map(({ code, option, chosenOption }) => shown.has(code) && (code === chosen ? chosenOption : option))}</select>
${fault && faultText('country', faultWords('country', fault, t))}</div>`
}

/** All countries by name, each with its option in both states. */
const countryOptions = once((t: Texts) =>
  countriesByName(t).map(({ code, name }) => ({
    code,
    option: html`<option value="${code}">${name}</option>
`,
    chosenOption: html`<option value="${code}" selected="selected">${name}</option>
`,
  })),
)

/** Links a field to its fault, for screen readers. */
export function faultTies(field: string, fault: FieldFault | undefined): Html | undefined {
  return fault && html` aria-invalid="true" aria-describedby="${field}-fault"`
}

export function faultWords(
  field: ShopField,
  { given, didYouMean: meant }: FieldFault,
  t: Texts,
): string {
  switch (field) {
    case 'q':
      return t('search.faults.q')
    case 'country':
      return meant === undefined
        ? t('search.faults.country', { given })
        : t('search.faults.country.code', { given, meant: countryName(meant, t) })
    case 'brand':
      return t('search.faults.brand')
    case 'min':
    case 'max':
      return Number(meant) > Number(given)
        ? t('search.faults.max', { given, meant: meant ?? '' })
        : orMeant(t('search.faults.bound', { given }), meant, t)
    default:
      return orMeant(t(`search.faults.${field}`, { given }), meant, t)
  }
}

function orMeant(fault: string, meant: string | undefined, t: Texts): string {
  return meant === undefined ? fault : `${fault} ${t('search.didYouMean', { meant })}`
}

export function faultText(field: string, text: string): Html {
  return html`<p class="fault" id="${field}-fault">${text}</p>`
}
