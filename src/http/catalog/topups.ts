import { topupRegions } from '../../goods/lists.ts'
import { countsIn } from '../../goods/search/column.ts'
import type { Docs } from '../../goods/search/docs.ts'
import type { Filters } from '../../goods/search/filters.ts'
import { nearestBrands, nearestCountries } from '../../goods/search/nearest.ts'
import type { SearchIndex } from '../../goods/search/search-index.ts'
import { slugOf } from '../../primitives/text.ts'
import type { ReadDeps } from '../deps.ts'
import { country, type ParamsOf, pageOf, paging, readParams, slugIn, text } from '../params.ts'
import { type Question, wholeQuestion } from '../question.ts'
import { searchQuestion } from '../search-answer.ts'
import { unfinishedView } from '../views/catalog-offer.ts'
import { wholeList } from './whole-list.ts'

const readers = {
  country,
  region: slugIn(topupRegions),
  operator: text,
  ...paging(100),
}

/** `GET /topups/offers`: browse topup offers. */
export function browseTopups(url: string, deps: ReadDeps): Question {
  const index = deps.shelf.current().listed.topup
  const { limit, offset, ...params } = readParams(url, readers)
  return searchQuestion({
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

/** `GET /topups/regions`: the regions that have topups. */
export function listTopupRegions(url: string, { shelf }: ReadDeps): Question {
  return wholeQuestion(url, () => {
    const counts = countsIn(shelf.current().listed.topup.regions)
    return wholeList(counts.map(([name, offers]) => ({ slug: slugOf(name), name, offers })))
  })
}

function filtersOf({ country, region, operator }: ParamsOf<typeof readers>): Filters {
  return { country, brand: operator, regions: region && [region] }
}

function alternativesIn(index: SearchIndex) {
  return {
    region: () => topupRegions,
    country: (given: string, left: Docs) => nearestCountries(index, given, left),
    operator: (given: string, left: Docs) => nearestBrands(index, given, left),
  }
}
