import { goods } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'

/** Where the page of an offer is, seen from the site's root. */
export function buyPath({ id }: Pick<Offer, 'id'>): string {
  return `/buy/${encodeURIComponent(id)}`
}

/** Where the same offer is as JSON. */
export function recordPath({ id, kind }: Pick<Offer, 'id' | 'kind'>): string {
  return `/api/catalog/${goods[kind].plural}/offers/${encodeURIComponent(id)}`
}
