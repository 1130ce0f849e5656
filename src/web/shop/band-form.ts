import type { FieldFault, ShopField, ShopQuery } from '../../api/shop/shop-query.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'
import { faultText, faultTies, faultWords } from './search-form.ts'

/** What the form keeps of the search around it. */
const kept = ['kind', 'q', 'country', 'brand', 'category', 'region', 'amount', 'sort'] as const

interface BandFormParts {
  readonly query: ShopQuery
  readonly faults?: ReadonlyMap<ShopField, FieldFault>
}

/** Bounds of one's own for the face value, with everything else as it is. */
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
