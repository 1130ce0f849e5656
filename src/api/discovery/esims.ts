import { coarseRegions } from '../../catalog/lists.ts'
import type { Docs } from '../../catalog/search/docs.ts'
import type { Filters } from '../../catalog/search/filters.ts'
import { mostOffered, nearestBrands, nearestCountries } from '../../catalog/search/nearest.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { answers } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import {
  country,
  described,
  oneOf,
  pageOf,
  paging,
  readParams,
  searchName,
  searchText,
  type ValuesOf,
} from '../params.ts'
import type { Query } from '../query.ts'
import { inDiscovery } from '../reading.ts'
import { searchQuery } from '../search-answer.ts'
import { EsimSearchResult } from '../shapes/lists.ts'
import { paths } from './paths.ts'

const coarseNames = Object.keys(coarseRegions) as (keyof typeof coarseRegions)[]

const query = {
  country: described(
    country,
    'ISO 3166-1 alpha-2 code (XK is Kosovo). Alone: plans of this country only. With regions: plans that cover it',
  ),
  regions: described(
    oneOf(coarseNames),
    'Multi-country plans of this coarse region. In the catalog interface regions takes its finer regions, single-country plans included',
  ),
  q: described(searchText, 'Free text over provider, notes and places'),
  brand: described(searchName, 'Provider: its name, or the beginning of the words of its name'),
  ...paging(50),
}

export const searchEsims = inDiscovery({
  id: 'searchEsims',
  path: paths.esims,
  name: 'Search eSIM plans',
  description: 'eSIM data plans for one country or many. All filters must be met.',
  query,
  answers: answers('A page of eSIM plans', EsimSearchResult),
  ask,
})

function ask(given: ParamSource, { liveCatalog }: ReadDeps): Query {
  const { limit, offset, ...params } = readParams(given, query)
  const index = liveCatalog.current().sold.esim
  return searchQuery({
    kind: 'esim',
    index,
    params,
    page: pageOf({ limit, offset }),
    filtersOf,
    alternatives: alternativesIn(index),
    form: 'discovery',
  })
}

/**
 * A country alone means single-country plans of that country. A region always means multi-country
 * plans, and a country beside it one that they cover (docs/decisions/017).
 */
function filtersOf({ country, regions, q, brand }: ValuesOf<typeof query>): Filters {
  const shared = { brand, text: q }
  if (regions === undefined) return { ...shared, country }
  const covers = country === undefined ? [] : [country]
  return { ...shared, multiCountry: true, regions: coarseRegions[regions], covers }
}

function alternativesIn(index: SearchIndex) {
  return {
    regions: () => coarseNames,
    country: (given: string, left: Docs) => [
      ...nearestCountries(index, given, left),
      ...mostOffered(index.covered, left),
    ],
    q: (given: string, left: Docs) => nearestBrands(index, given, left),
    brand: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
