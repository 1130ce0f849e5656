import { coarseRegions } from '../../goods/lists.ts'
import type { Docs } from '../../goods/search/docs.ts'
import type { Filters } from '../../goods/search/filters.ts'
import { mostOffered, nearestBrands, nearestCountries } from '../../goods/search/nearest.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import {
  country,
  oneOf,
  type ParamsOf,
  pageOf,
  paging,
  readParams,
  searchText,
  text,
} from '../params.ts'
import type { Question } from '../question.ts'
import { searchQuestion } from '../search-answer.ts'

const coarseNames = Object.keys(coarseRegions) as (keyof typeof coarseRegions)[]

const readers = {
  country,
  regions: oneOf(coarseNames),
  q: searchText,
  brand: text,
  ...paging(50),
}

/** `GET /ai/esims`: an EsimSearchResult. */
export function searchEsims(url: string, { shelf }: ReadDeps): Question {
  const { limit, offset, ...params } = readParams(url, readers)
  const index = shelf.current().sold.esim
  return searchQuestion({
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
 * A country alone means plans of that country; beside a region, which always means multi-country
 * plans, it means plans that cover it (decisions 2).
 */
function filtersOf({ country, regions, q, brand }: ParamsOf<typeof readers>): Filters {
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
