import type { ShopQuery } from '../../api/shop/shop-query.ts'
import type { ShopAnswer, UnderstoodPart } from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import { changed } from '../paths.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'

/** How the words of a search were understood: each part with a link to the search without it; and what was left out. */
export function understoodParts(
  query: ShopQuery,
  { understood, leftOut }: ShopAnswer,
  t: Texts,
): Html | undefined {
  if (query.q === undefined || understood.length + leftOut.length === 0) return undefined
  return html`<div class="understood">
${
  understood.length > 0 &&
  html`<ul aria-label="${t('search.understood')}">${understood.map(
    (one) =>
      html`<li><a href="${changed(query, { q: one.without })}"><span class="hidden">${t('search.remove')}: </span>${nameOf(one, t)}</a></li>
`,
  )}</ul>`
}
${leftOut.length > 0 && html`<p class="note">${t('search.leftOut', { words: leftOut.map((word) => `“${word}”`).join(', ') })}</p>`}
</div>`
}

function nameOf({ part, brand }: UnderstoodPart, t: Texts): string {
  if (part.isExcluded) return part.text
  switch (part.type) {
    case 'brand':
      return brand ?? part.text
    case 'country':
      return countryName(part.code, t)
    case 'kind':
      return t(`search.kinds.${part.kind}`)
    case 'phone': {
      const place = part.country === undefined ? undefined : countryName(part.country, t)
      return [part.operator, place].filter(Boolean).join(', ') || part.text
    }
    default:
      return part.text
  }
}
