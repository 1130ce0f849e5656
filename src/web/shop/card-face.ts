import type { FacetValue } from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'

/** How many colours `style.css` has. */
const hues = 7

/** The face of a card, drawn in CSS in a colour derived from the name. It loads no picture from other hosts. */
export function cardFace(brandName: string): Html {
  return html`<span class="card hue-${hashOf(brandName) % hues}" aria-hidden="true"><b>${brandName}</b></span>`
}

/** FNV-1a over the code units, which spreads short names well. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  // Mixes in the high bits; otherwise the low bits of the last letter alone would decide the colour.
  return (hash ^ (hash >>> 15)) >>> 0
}

export function brandGrid(
  brands: readonly FacetValue[],
  t: Texts,
  pathOf: (brand: string) => string,
): Html {
  return html`<ul class="brands">
${brands.map(({ value, offers }) => {
  const label = t('home.brandOffers', { brand: value, count: offers })
  return html`<li><a href="${pathOf(value)}" aria-label="${label}">${cardFace(value)}</a></li>
`
})}</ul>`
}
