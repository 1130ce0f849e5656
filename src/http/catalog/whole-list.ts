import { countryName } from '../../goods/countries.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import type { Published } from '../views/discovery-offer.ts'

/** A list that takes no parameters comes whole, in the form of every list (decisions 3). */
export function wholeList(items: readonly Published[]): Published {
  return { total: items.length, limit: items.length, offset: 0, items }
}

/** The countries that have offers of a kind: `{code, name, offers}`. */
export function countryItems({ countries }: SearchIndex): Published[] {
  return countries.entries.map(({ value, docs }) => ({
    code: value,
    name: countryName(value),
    offers: docs.length,
  }))
}

/** The brands that have offers of a kind: `{brand, brandName, countries, offers}`. */
export function brandItems(index: SearchIndex): Published[] {
  const groups = new Map<string, { brand: string; brandName: string; docs: number[] }>()
  for (const [doc, { brand, brandName }] of index.offers.entries()) {
    const known = groups.get(brand)
    if (known === undefined) groups.set(brand, { brand, brandName, docs: [doc] })
    else known.docs.push(doc)
  }
  return Array.from(groups.values(), ({ brand, brandName, docs }) => ({
    brand,
    brandName,
    countries: countriesAmong(index, docs),
    offers: docs.length,
  }))
}

function countriesAmong({ offers }: SearchIndex, docs: readonly number[]): string[] {
  return [...new Set(docs.flatMap((doc) => offers[doc]?.country ?? []))].sort()
}
