import { topupRegions, topupSubTypes } from '../../catalog/lists.ts'
import type { Docs } from '../../catalog/search/docs.ts'
import type { Filters } from '../../catalog/search/filters.ts'
import { nearestBrands, nearestCountries } from '../../catalog/search/nearest.ts'
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
  type ValuesOf,
} from '../params.ts'
import type { Query } from '../query.ts'
import { inDiscovery } from '../reading.ts'
import { searchQuery } from '../search-answer.ts'
import { TopupSearchResult } from '../shapes/lists.ts'
import { paths } from './paths.ts'

const query = {
  country,
  brand: described(searchName, 'Operator: its name, or the beginning of the words of its name'),
  subType: described(oneOf(topupSubTypes), 'What the line gets'),
  region: described(oneOf(topupRegions), 'Where the line is'),
  ...paging(50),
}

export const searchTopups = inDiscovery({
  id: 'searchTopups',
  path: paths.topups,
  name: 'Search topups',
  description:
    'Airtime, data and bundles for mobile lines. All filters must be met; facets says what each could be switched to.',
  query,
  answers: answers('A page of topups, with facets', TopupSearchResult),
  ask,
})

function ask(given: ParamSource, { liveCatalog }: ReadDeps): Query {
  const { limit, offset, ...params } = readParams(given, query)
  const index = liveCatalog.current().sold.topup
  return searchQuery({
    kind: 'topup',
    index,
    params,
    page: pageOf({ limit, offset }),
    filtersOf,
    alternatives: alternativesIn(index),
    form: 'discovery',
    facets: true,
  })
}

function filtersOf({ region, ...filters }: ValuesOf<typeof query>): Filters {
  const { country, brand, subType } = filters
  return { country, brand, subType, regions: region && [region] }
}

function alternativesIn(index: SearchIndex) {
  return {
    region: () => topupRegions,
    country: (given: string, left: Docs) => nearestCountries(index, given, left),
    subType: () => topupSubTypes,
    brand: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
