import { kindOf } from '../good.ts'
import type { Offer } from '../offer.ts'
import { listAt, placeIn } from './column.ts'
import type { Docs } from './docs.ts'
import { matching } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

/** The offers of one brand for exactly the same countries, in the published order. */
export interface BrandPlace {
  readonly countries: readonly string[]
  readonly docs: Docs
}

/**
 * The combinations of countries for which the brand of an offer is sold and that include the first country of the
 * offer, the smallest first. Each combination has a number in the index, so no offer is read for it.
 */
export function brandPlaces(index: SearchIndex, offer: Offer): BrandPlace[] {
  const { covered, names } = index
  const place = placeIn(names, offer.brand)
  const brands = place === undefined ? new Uint32Array(0) : listAt(names.codesOf, place)
  const docsOf = new Map<number, number[]>()
  const covers = coveredBy(offer).slice(0, 1)
  for (const doc of matching(index, { brand: offer.brand, covers })) {
    if (!brands.includes(names.codes[doc] as number)) continue
    const code = covered.codes[doc] as number
    const docs = docsOf.get(code)
    if (docs === undefined) docsOf.set(code, [doc])
    else docs.push(doc)
  }
  return Array.from(docsOf, ([code, docs]) => ({
    countries: Array.from(listAt(covered.valuesOf, code), (at) => covered.values[at] as string),
    docs: Uint32Array.from(docs),
  })).sort((one, other) => one.countries.length - other.countries.length)
}

/** Every country that an offer can be used in, sorted, so that equal sets are equal lists. */
export function coveredBy(offer: Offer): string[] {
  const own = offer.country === undefined ? [] : [offer.country]
  return [...new Set([...own, ...kindOf(offer).indexed(offer).covers])].sort()
}
