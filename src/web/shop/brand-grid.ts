import type { FacetValue } from '../../api/shop/shop-facets.ts'
import type { Kind } from '../../catalog/offer.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'
import { cardFace } from './card-face.ts'

/** Brands as drawn cards, each leading to what there is of it. */
export function brandGrid(
  brands: readonly FacetValue[],
  t: Texts,
  leadsTo: (brand: string) => { readonly path: string; readonly kind: Kind },
): Html {
  return html`<ul class="brands">
${brands.map(({ value, offers }) => {
  const { path, kind } = leadsTo(value)
  const label = t('home.brandOffers', { brand: value, count: offers })
  return html`<li><a href="${path}" aria-label="${label}">${cardFace(value, kind)}</a></li>
`
})}</ul>`
}
