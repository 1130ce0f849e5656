import { goods } from '../goods/good.ts'
import type { Kind, Offer } from '../goods/offer.ts'
import { type Filters, matching } from '../goods/search/filters.ts'
import { type Alternatives, hintFor } from '../goods/search/hint.ts'
import { type Page, search, searchWithFacets } from '../goods/search/search.ts'
import type { SearchIndex } from '../goods/search/search-index.ts'
import { type Question, questionOf } from './question.ts'
import type { Published } from './views/discovery-offer.ts'

/** A search as a caller asked for it, in the names of its parameters. */
export interface Asked<Params extends object> {
  readonly kind: Kind
  readonly index: SearchIndex
  readonly params: Params
  readonly page: Page
  readonly filtersOf: (params: Params) => Filters
  readonly alternatives: Alternatives<Params>
  readonly view: (offer: Offer) => Published
  /** Whether the answer carries the values to switch to. */
  readonly facets?: true
}

/** What a search asks for: the kind is in its route, the index in the catalog of now. */
export function searchQuestion<Params extends object>(asked: Asked<Params>): Question {
  return questionOf({ ...asked.params, ...asked.page }, () => searchAnswer(asked))
}

/** One page of offers, or the hint why there are none (decisions 2). */
function searchAnswer<Params extends object>(asked: Asked<Params>): Published {
  const { kind, index, params, page, filtersOf, alternatives, view } = asked
  const filters = filtersOf(params)
  const { total, offers, facets } = asked.facets
    ? searchWithFacets(index, filters, page)
    : { ...search(index, filters, page), facets: undefined }
  const body = { total, ...page, items: offers.map(view) }
  const toSwitch = facets === undefined ? {} : { facets }
  if (total > 0) return { ...body, ...toSwitch }
  const find = (tried: Params) => matching(index, filtersOf(tried))
  const hint = hintFor({ params, find, alternatives, noun: goods[kind].plural })
  return { ...body, hint, ...toSwitch }
}
