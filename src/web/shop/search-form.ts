import type { FieldFault, ShopField, ShopQuery } from '../../api/shop/shop-query.ts'
import { countryCodes, countryName } from '../../catalog/countries.ts'
import { kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/en.ts'

interface SearchForm {
  readonly query: ShopQuery
  readonly kind: Kind
  /** Whether the kind is chosen here. */
  readonly choosesKind?: true
  /** Codes of the countries to choose from. */
  readonly countries: readonly string[]
  readonly faults?: ReadonlyMap<ShopField, FieldFault>
}

/** The search over the three kinds: a form that works everywhere, and asks nobody where its visitor is. */
export function searchForm(form: SearchForm, texts: Texts): Html {
  const { search } = texts
  return html`<form class="finder" role="search" action="/search" method="get" aria-label="${search.form}">
${kindChoice(form, texts)}
<div class="finder-fields">
${wordsField(form, texts)}
${countryField(form, texts)}
<button class="button" type="submit">${search.submit}</button>
</div>
</form>`
}

/** The kind, to be chosen; where it is chosen elsewhere on the page, it goes along unseen. */
function kindChoice({ kind, choosesKind }: SearchForm, { search }: Texts): Html {
  if (!choosesKind) return html`<input type="hidden" name="kind" value="${kind}">`
  return html`<fieldset class="kind-choice"><legend class="hidden">${search.kind}</legend>
${kinds.map(
  (
    each,
  ) => html`<label><input type="radio" name="kind" value="${each}"${each === kind && html` checked="checked"`}><span>${search.kinds[each]}</span></label>
`,
)}</fieldset>`
}

function wordsField({ query, faults }: SearchForm, texts: Texts): Html {
  const { search } = texts
  const fault = faults?.get('q')
  const value = fault?.given ?? query.q ?? ''
  return html`<div class="field words"><label for="q">${search.q}</label>
<input id="q" name="q" type="search" value="${value}" placeholder="${search.qExample}" autocomplete="off" spellcheck="false" enterkeyhint="search"${faultTies('q', fault)}>
${fault && faultText('q', faultWords('q', fault, texts))}</div>`
}

function countryField({ query, countries, faults }: SearchForm, texts: Texts): Html {
  const { search } = texts
  const fault = faults?.get('country')
  const chosen = query.country ?? fault?.didYouMean
  const shown = new Set([...countries, chosen])
  return html`<div class="field place"><label for="country">${search.country}</label>
<select id="country" name="country"${faultTies('country', fault)}>
<option value="">${search.anyCountry}</option>
${countryOptions(texts).map(({ code, option, chosenOption }) => shown.has(code) && (code === chosen ? chosenOption : option))}</select>
${fault && faultText('country', faultWords('country', fault, texts))}</div>`
}

interface CountryOption {
  readonly code: string
  readonly option: Html
  readonly chosenOption: Html
}

/** Made once for a language: to sort some hundred names takes longer than most searches. */
const optionsIn = new WeakMap<Texts, readonly CountryOption[]>()

/** Every country there is, by name. */
function countryOptions(texts: Texts): readonly CountryOption[] {
  const known = optionsIn.get(texts)
  if (known !== undefined) return known
  const made = countryCodes()
    .map((code) => ({ code, name: countryName(code) }))
    .sort((one, other) => one.name.localeCompare(other.name, texts.offers.numbers))
    .map(({ code, name }) => ({
      code,
      option: html`<option value="${code}">${name}</option>
`,
      chosenOption: html`<option value="${code}" selected="selected">${name}</option>
`,
    }))
  optionsIn.set(texts, made)
  return made
}

/** Ties a field to what is wrong in it, for those who hear the page. */
export function faultTies(field: string, fault: FieldFault | undefined): Html | undefined {
  return fault && html` aria-invalid="true" aria-describedby="${field}-fault"`
}

/** What is wrong in a field, in words. */
export function faultWords(
  field: ShopField,
  { given, didYouMean }: FieldFault,
  { search }: Texts,
): string {
  const isCode = field === 'country' && didYouMean !== undefined
  return search.faults[field](given, isCode ? countryName(didYouMean) : didYouMean)
}

/** What is wrong in a field, beside it. */
export function faultText(field: string, text: string): Html {
  return html`<p class="fault" id="${field}-fault">${text}</p>`
}
