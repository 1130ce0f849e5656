import { topupRegions } from '../../catalog/lists.ts'
import { countsIn } from '../../catalog/search/column.ts'
import type { Docs } from '../../catalog/search/docs.ts'
import type { Filters } from '../../catalog/search/filters.ts'
import { nearestBrands, nearestCountries } from '../../catalog/search/nearest.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { slugOf } from '../../lib/text.ts'
import type { ReadDeps } from '../deps.ts'
import { answers } from '../operation.ts'
import type { ParamSource } from '../param-source.ts'
import {
  country,
  described,
  pageOf,
  paging,
  readParams,
  searchName,
  slugOrName,
  type ValuesOf,
} from '../params.ts'
import { catalogPrefix } from '../paths.ts'
import { type Query, wholeListQuery } from '../query.ts'
import { inCatalog } from '../reading.ts'
import { searchQuery } from '../search-answer.ts'
import { CatalogPage, RegionList } from '../shapes/lists.ts'
import { unfinishedView } from '../views/catalog-offer.ts'
import { wholeList } from './whole-list.ts'

const query = {
  country,
  region: described(slugOrName(topupRegions), 'Where the line is: the slug of a region'),
  operator: described(searchName, 'Operator: its name, or the beginning of the words of its name'),
  ...paging(100),
}

export const browseTopups = inCatalog({
  id: 'browseTopups',
  path: `${catalogPrefix}/topups/offers`,
  name: 'Browse topups',
  description: 'Airtime, data and bundle offers of mobile operators, with exact prices in USDC.',
  query,
  answers: answers('A page of topups', CatalogPage.topup),
  ask: askOffers,
})

export const topupRegionList = inCatalog({
  id: 'topupRegions',
  path: `${catalogPrefix}/topups/regions`,
  name: 'Topup regions',
  description: 'Regions with topups, with their slugs and their number of offers.',
  answers: answers('All regions', RegionList),
  ask: askRegions,
})

function askOffers(given: ParamSource, deps: ReadDeps): Query {
  const index = deps.liveCatalog.current().listed.topup
  const { limit, offset, ...params } = readParams(given, query)
  return searchQuery({
    kind: 'topup',
    index,
    params,
    page: pageOf({ limit, offset }),
    filtersOf,
    alternatives: alternativesIn(index),
    form: 'catalog',
    view: unfinishedView(deps),
  })
}

function askRegions(given: ParamSource, { liveCatalog }: ReadDeps): Query {
  return wholeListQuery(given, () => {
    const counts = countsIn(liveCatalog.current().listed.topup.regions)
    return wholeList(counts.map(([name, offers]) => ({ slug: slugOf(name), name, offers })))
  })
}

function filtersOf({ country, region, operator }: ValuesOf<typeof query>): Filters {
  return { country, brand: operator, regions: region && [region] }
}

function alternativesIn(index: SearchIndex) {
  return {
    region: () => topupRegions,
    country: (given: string, left: Docs) => nearestCountries(index, given, left),
    operator: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
