import type { FastifyRequest } from 'fastify'
import type { ShopQuery } from '../api/shop/shop-search.ts'
import { goods } from '../catalog/kinds.ts'
import type { Offer } from '../catalog/offer.ts'
import { type Html, html } from './frame/html.ts'

export function payPath(id: string): string {
  return `/pay/${id}`
}

export function orderPagePath(id: string): string {
  return `/orders/${id}`
}

export function buyPath({ id }: { readonly id: string }): string {
  return `/buy/${encodeURIComponent(id)}`
}

export function recordPath({ id, kind }: Pick<Offer, 'id' | 'kind'>): string {
  return `/api/catalog/${goods[kind].plural}/offers/${encodeURIComponent(id)}`
}

/** The order of the fields in the URL of a search, so that the same search always has the same URL. */
const order = [
  'kind',
  'q',
  'country',
  'brand',
  'category',
  'region',
  'min',
  'max',
  'amount',
  'sort',
  'page',
] as const satisfies readonly (keyof ShopQuery)[]

/** A search without fields that have their default: exactly what its path says. */
export function withoutDefaults({ page, sort, ...query }: ShopQuery): ShopQuery {
  return {
    ...query,
    sort: sort === 'match' ? undefined : sort,
    page: page === 1 ? undefined : page,
  }
}

/** The path of a search, the same for every spelling of it. */
export function searchPath(query: ShopQuery): string {
  const params = paramsOf(query)
  return params.size === 0 ? '/search' : `/search?${params}`
}

export function paramsOf(shopQuery: ShopQuery): URLSearchParams {
  const query = withoutDefaults(shopQuery)
  const fields = order.filter((field) => query[field] !== undefined)
  return new URLSearchParams(fields.map((field): [string, string] => [field, String(query[field])]))
}

/** The same search with other values in these fields, from its first page. */
export function changed(query: ShopQuery, fields: Partial<ShopQuery>): string {
  return searchPath({ ...query, page: undefined, ...fields })
}

/** Whether search engines should index a search: only a kind, whole or in one country, without any other field. */
export function isCategory({
  kind,
  country: _country,
  page: _page,
  ...others
}: ShopQuery): boolean {
  return kind !== undefined && Object.values(others).every((value) => value === undefined)
}

interface Followed {
  readonly version: string
  /** The path from which the page is loaded again; that of an answer to a form may not support GET. */
  readonly page: string
  /** A short sentence that screen readers read after a change. */
  readonly say: string
  readonly isFinished: boolean
}

/** The attributes of the one element of a page that `scripts/follow.js` keeps up to date. */
export function followed({ version, page, say, isFinished }: Followed): Html {
  const end = isFinished && html` data-end="true"`
  return html` data-version="${version}" data-page="${page}" data-say="${say}"${end}`
}

/** Whether the script already shows this version of the page. The answer is then 304, and nothing is rendered. */
export function isUpToDate({ headers }: FastifyRequest, version: string): boolean {
  return headers['if-none-match'] === `"${version}"`
}

/** Seconds after which a browser without script reloads the page. */
const reloadSeconds = 10

/** Reloads a page in browsers without script; not one with a text field, which a reload would clear. */
export function reloading(page: string, isReloaded: boolean): { readonly head?: Html } {
  if (!isReloaded) return {}
  const content = `${reloadSeconds}; url=${page}`
  return { head: html`<noscript><meta http-equiv="refresh" content="${content}"></noscript>` }
}
