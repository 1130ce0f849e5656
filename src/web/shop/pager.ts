import type { ShopQuery } from '../../api/shop/shop-query.ts'
import type { ShopAnswer } from '../../api/shop/shop-search.ts'
import { type Html, html } from '../frame/html.ts'
import type { Texts } from '../texts/texts.ts'
import { searchPath } from './search-address.ts'

/** The way through the pages of a result. */
export function pager(
  query: ShopQuery,
  { page, pages }: Pick<ShopAnswer, 'page' | 'pages'>,
  t: Texts,
): Html | undefined {
  if (pages === 1) return undefined
  const at = (number: number) => searchPath({ ...query, page: number })
  return html`<nav class="pager" aria-label="${t('search.pages')}">
${page > 1 ? html`<a class="button quiet" rel="prev" href="${at(page - 1)}">${t('search.previous')}</a>` : html`<span></span>`}
<span>${t('search.page', { page, pages })}</span>
${page < pages ? html`<a class="button quiet" rel="next" href="${at(page + 1)}">${t('search.next')}</a>` : html`<span></span>`}
</nav>`
}
