import type { ShopQuery } from '../../api/shop/shop-query.ts'

/** The order in which a search stands in its address, so that the same search has one address. */
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

/** Whether search engines should keep it: a category, whole or of one country, and nobody's own words. */
export function isCategory({
  kind,
  country: _country,
  page: _page,
  ...others
}: ShopQuery): boolean {
  return kind !== undefined && Object.values(others).every((value) => value === undefined)
}
