import {
  countriesIn,
  type FieldFault,
  type ReadShopQuery,
  type ShopField,
} from '../../api/shop/shop-query.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { crumbTrail, type Page } from '../frame/layout.ts'
import type { Texts } from '../texts/en.ts'
import { bandForm } from './band-form.ts'
import { faultWords, searchForm } from './search-form.ts'

/**
 * A search of which something cannot be read: its forms with all that was typed, and what is wrong
 * beside each field. Nothing is searched for: there are endless such addresses, and none is kept.
 */
export function searchFaultPage({ query, faults }: ReadShopQuery, deps: WebDeps): Page {
  const { texts, liveCatalog } = deps
  const { search, frame } = texts
  const { kind = 'voucher' } = query
  const countries = countriesIn(liveCatalog.current().sold)
  return {
    title: search.faultTitle,
    description: search.faultLead,
    main: html`${crumbTrail(search.crumb, frame.home, [])}
<h1 class="hidden">${search.faultTitle}</h1>
${searchForm({ query, kind, countries, faults }, texts)}
${faultSummary(faults, texts)}
${bandForm({ query, faults }, texts)}`,
  }
}

/** Fields of the two forms, which say beside themselves what is wrong in them. */
const inForms: readonly ShopField[] = ['q', 'country', 'min', 'max']

/** What could not be read, with the way to each field. */
function faultSummary(faults: ReadonlyMap<ShopField, FieldFault>, texts: Texts): Html {
  const { search } = texts
  return html`<section class="faults" role="alert" aria-labelledby="faults">
<h2 id="faults">${search.faultTitle}</h2>
<p>${search.faultLead}</p>
<ul>
${[...faults].map(([field, fault]) => {
  const text = faultWords(field, fault, texts)
  return inForms.includes(field)
    ? html`<li><a href="#${field}">${text}</a></li>
`
    : html`<li>${text}</li>
`
})}</ul>
</section>`
}
