import type { ShopQuery } from '../api/shop/shop-query.ts'
import { goods } from '../catalog/good.ts'
import type { Offer } from '../catalog/offer.ts'

/** Where the payment of a checkout is shown. */
export function payPath(id: string): string {
  return `/pay/${id}`
}

/** Where an order is shown. */
export function orderPagePath(id: string): string {
  return `/orders/${id}`
}

/** Where the page of an offer is, seen from the site's root. */
export function buyPath({ id }: Pick<Offer, 'id'>): string {
  return `/buy/${encodeURIComponent(id)}`
}

/** Where the same offer is as JSON. */
export function recordPath({ id, kind }: Pick<Offer, 'id' | 'kind'>): string {
  return `/api/catalog/${goods[kind].plural}/offers/${encodeURIComponent(id)}`
}

/** The order of the fields in the address of a search, so that the same search has one address. */
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

/** Where this search is. What is left open, and the first page, are not in it. */
export function searchPath(query: ShopQuery): string {
  const params = new URLSearchParams()
  for (const field of order) {
    const value = query[field]
    const isUsual = (field === 'page' && value === 1) || (field === 'sort' && value === 'match')
    if (value !== undefined && !isUsual) params.set(field, String(value))
  }
  return params.size === 0 ? '/search' : `/search?${params}`
}

/** The same search with other values in these fields, from its first page. */
export function changed(query: ShopQuery, fields: Partial<ShopQuery>): string {
  return searchPath({ ...query, page: undefined, ...fields })
}

/** Whether search engines should index it: a category, whole or of one country, without search words. */
export function isCategory({
  kind,
  country: _country,
  page: _page,
  ...others
}: ShopQuery): boolean {
  return kind !== undefined && Object.values(others).every((value) => value === undefined)
}
