import type { Offer } from '../offer.ts'
import type { SearchIndex } from './search-index.ts'
import { coveredBy } from './stock.ts'

/** The offers of one brand for exactly the same countries, in the published order. */
export interface BrandPlace {
  readonly countries: readonly string[]
  readonly offers: readonly Offer[]
}

/**
 * The combinations of countries for which the brand of an offer is sold and that include the first country of the
 * offer, the smallest first.
 */
export function brandPlaces(index: SearchIndex, offer: Offer): BrandPlace[] {
  const covers = coveredBy(offer).slice(0, 1)
  return index
    .groups('covers', { brandKeys: [offer.brand], covers })
    .map(({ values, offers }) => ({ countries: values, offers }))
    .sort((one, other) => one.countries.length - other.countries.length)
}
