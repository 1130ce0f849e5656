import { type Region, regions, singleCountryRegions } from '../../catalog/lists.ts'
import type { Docs } from '../../catalog/search/docs.ts'
import type { Filters } from '../../catalog/search/filters.ts'
import {
  coverableOf,
  mostOffered,
  nearestBrands,
  nearestCountries,
  nearestDurations,
} from '../../catalog/search/nearest.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { answers } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import {
  countries,
  country,
  described,
  flag,
  pageOf,
  paging,
  readParams,
  refused,
  searchText,
  slugIn,
  slugOrName,
  type ValuesOf,
  wholeNumber,
} from '../params.ts'
import { catalogPrefix } from '../paths.ts'
import type { Query } from '../query.ts'
import { inCatalog } from '../reading.ts'
import { searchQuery } from '../search-answer.ts'
import { CatalogPage } from '../shapes/lists.ts'
import { unfinishedView } from '../views/catalog-offer.ts'

/** Both published sets of parameters, in force together (docs/decisions/017). */
const query = {
  country: described(
    country,
    'ISO 3166-1 alpha-2 code (XK is Kosovo) of a single-country plan; with regional=true a country to be covered',
  ),
  covers: described(
    countries,
    'Country codes with commas between them; a plan must cover every one',
  ),
  regions: described(
    slugIn(regions),
    'The region of the plan, by its name in this catalog. In the discovery interface regions takes coarse names and finds multi-country plans only',
  ),
  region: described(slugOrName(regions), 'The same by its slug'),
  regional: described(flag, 'true finds multi-country plans only'),
  duration: described(wholeNumber(1, 3650), 'Duration in days, exactly'),
  q: described(searchText, 'Free text over provider, notes and places'),
  ...paging(100),
}
type Params = ValuesOf<typeof query>

export const browseEsims = inCatalog({
  id: 'browseEsims',
  path: `${catalogPrefix}/esims/offers`,
  name: 'Browse eSIM plans',
  description: 'eSIM data plans for one country or many, with exact prices in USDC.',
  query,
  answers: answers('A page of eSIM plans', CatalogPage.esim),
  ask,
})

function ask(given: ParamSource, deps: ReadDeps): Query {
  const { limit, offset, ...params } = readParams(given, query)
  checkRegions(params)
  const index = deps.liveCatalog.current().listed.esim
  return searchQuery({
    kind: 'esim',
    index,
    params,
    page: pageOf({ limit, offset }),
    filtersOf,
    alternatives: alternativesIn(index),
    form: 'catalog',
    view: unfinishedView(deps),
  })
}

/** With `regional=true` the plan must cover `country`, as it must cover those in `covers`. */
function filtersOf(params: Params): Filters {
  const { country, regional, duration, q } = params
  const region = params.regions ?? params.region
  const covers = params.covers ?? []
  const shared = { text: q, durationDays: duration, regions: region && [region] }
  if (regional !== true) return { ...shared, covers, country }
  return { ...shared, multiCountry: true, covers: country ? [country, ...covers] : covers }
}

function checkRegions({ regions, region, regional }: Params): void {
  if (regions !== undefined && region !== undefined && regions !== region) {
    throw refused('region', `regions asks for ${regions} and region for ${region}; give one.`)
  }
  const asked = regions ?? region
  if (regional !== true || asked === undefined || !singleCountryRegions.includes(asked)) return
  throw refused(
    regions === undefined ? 'region' : 'regions',
    `${asked} names single-country plans only, so it cannot be combined with regional=true.`,
  )
}

function alternativesIn(index: SearchIndex) {
  const regionsAmong = (left: Docs) => mostOffered(index.regions, left) as Region[]
  return {
    regional: () => [false],
    duration: (given: number, left: Docs) => nearestDurations(index, given, left),
    regions: (_: Region, left: Docs) => regionsAmong(left),
    region: (_: Region, left: Docs) => regionsAmong(left),
    covers: (given: readonly string[], left: Docs) => {
      const coverable = coverableOf(index, given, left)
      return coverable.length === 0 ? [] : [coverable]
    },
    country: (given: string, left: Docs) => [
      ...nearestCountries(index, given, left),
      ...mostOffered(index.covered, left),
    ],
    q: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
