import type { Kind } from '../goods/offer.ts'

/** Where the catalog interface lives (service.md). */
export const catalogPrefix = '/api/catalog'

/** Where goods of a kind are quoted (GET) and bought (POST). */
export function purchasePath(kind: Kind): string {
  return `${catalogPrefix}/${kind}s/purchase/info`
}
