import { isCountry } from '../src/catalog/countries.ts'
import { topupRegions, topupSubTypes } from '../src/catalog/lists.ts'
import type { Offer } from '../src/catalog/offer.ts'
import type { Filters } from '../src/catalog/search/filters.ts'
import { madeOffers, madeQueries } from './search-load.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const countries = letters
  .flatMap((one) => letters.map((other) => one + other))
  .filter((code) => isCountry(code))

/** Made topups with values that the API accepts as filters; it refuses all others. */
export function publishedOffers(count: number): Offer[] {
  return madeOffers(count, { countries, regions: topupRegions, subTypes: topupSubTypes })
}

/** Searches of topups in the seven forms of {@link madeQueries}, as paths with a query. */
export function searchTargets(offers: readonly Offer[], count: number): string[] {
  return madeQueries(offers, count).map(targetOf)
}

/** The search of topups takes no free text; the beginning of a brand name comes closest. */
function targetOf({ country, subType, regions, brand, text }: Filters): string {
  const params = { country, subType, region: regions?.[0], brand: brand ?? text }
  const given = Object.entries(params).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  )
  const query = new URLSearchParams(given).toString()
  return query === '' ? '/ai/topups' : `/ai/topups?${query}`
}
