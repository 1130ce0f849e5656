import { countryName } from '../../catalog/countries.ts'
import { addRuns, type Bits, countOf, createBits, docsIn } from '../../catalog/search/bits.ts'
import { countsIn, valuesAmong } from '../../catalog/search/column.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { Published } from '../views/discovery-offer.ts'

/** A list that takes no parameters comes whole, in the form that every list has. */
export function wholeList(items: readonly Published[]): Published {
  return { total: items.length, limit: items.length, offset: 0, items }
}

/** The countries that have offers of a kind: `{code, name, offers}`. */
export function countryItems({ countries }: SearchIndex): Published[] {
  return countsIn(countries).map(([code, offers]) => ({ code, name: countryName(code), offers }))
}

/** The brands that have offers of a kind: `{brand, brandName, countries, offers}`. */
export function brandItems({ brands, ofBrand, countries, size }: SearchIndex): Published[] {
  const groups = new Map<string, { brandName: string; docs: Bits }>()
  for (const [code, { brand, brandName }] of brands().entries()) {
    const group = groups.get(brand) ?? { brandName, docs: createBits(size) }
    groups.set(brand, group)
    addRuns(group.docs, ofBrand, code)
  }
  return Array.from(groups, ([brand, { brandName, docs }]) => {
    const own = new Uint32Array(countOf(docs))
    docsIn(docs, own)
    return { brand, brandName, countries: valuesAmong(countries, own), offers: own.length }
  })
}
