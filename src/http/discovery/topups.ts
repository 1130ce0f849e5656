import { topupRegions, topupSubTypes } from '../../goods/lists.ts'
import type { Docs } from '../../goods/search/docs.ts'
import type { Filters } from '../../goods/search/filters.ts'
import { nearestBrands, nearestCountries } from '../../goods/search/nearest.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { country, oneOf, type ParamsOf, pageOf, paging, readParams, text } from '../params.ts'
import type { Question } from '../question.ts'
import { searchQuestion } from '../search-answer.ts'

const readers = {
  country,
  brand: text,
  subType: oneOf(topupSubTypes),
  region: oneOf(topupRegions),
  ...paging(50),
}

/** `GET /ai/topups`: a TopupSearchResult, with facets. */
export function searchTopups(url: string, { shelf }: ReadDeps): Question {
  const { limit, offset, ...params } = readParams(url, readers)
  const index = shelf.current().sold.topup
  return searchQuestion({
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

function filtersOf({ region, ...filters }: ParamsOf<typeof readers>): Filters {
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
