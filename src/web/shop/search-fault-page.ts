import {
  countriesIn,
  type FieldFault,
  type ReadShopQuery,
  type ShopField,
} from '../../api/shop/shop-query.ts'
import type { WebDeps } from '../frame/deps.ts'
import { type Html, html } from '../frame/html.ts'
import { crumbTrail, type Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'
import { bandForm } from './band-form.ts'
import { faultWords, searchForm } from './search-form.ts'

/**
 * A search of which something cannot be read: its forms with all that was typed, and what is wrong
 * beside each field. Nothing is searched for: there are endless such addresses, and none is kept.
 */
export function searchFaultPage({ query, faults }: ReadShopQuery, deps: WebDeps): Page {
  const { t, liveCatalog } = deps
  const { kind = 'voucher' } = query
  const countries = countriesIn(liveCatalog.current().sold)
  return {
    title: t('search.faultTitle'),
    description: t('search.faultLead'),
    main: html`${crumbTrail(t('search.crumb'), t('frame.home'), [])}
<h1 class="hidden">${t('search.faultTitle')}</h1>
${searchForm({ query, kind, countries, faults }, t)}
${faultSummary(faults, t)}
${bandForm({ query, faults }, t)}`,
  }
}

/** Fields of the two forms, which say beside themselves what is wrong in them. */
const inForms: readonly ShopField[] = ['q', 'country', 'min', 'max']

/** What could not be read, with the way to each field. */
function faultSummary(faults: ReadonlyMap<ShopField, FieldFault>, t: Texts): Html {
  return html`<section class="faults" role="alert" aria-labelledby="faults">
<h2 id="faults">${t('search.faultTitle')}</h2>
<p>${t('search.faultLead')}</p>
<ul>
${[...faults].map(([field, fault]) => {
  const text = faultWords(field, fault, t)
  return inForms.includes(field)
    ? html`<li><a href="#${field}">${text}</a></li>
`
    : html`<li>${text}</li>
`
})}</ul>
</section>`
}
