import { byKind, goods } from '../../catalog/good.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import type { ParamSource } from '../../catalog/search/param-source.ts'
import type { ReadDeps } from '../deps.ts'
import { catalogOffer, discoveryOffer } from '../offers.ts'
import { answers, inDiscovery, type Reading } from '../operation.ts'
import { discoveryPath, titleOf } from '../paths.ts'
import type { Query } from '../query.ts'
import { searchQuery } from '../search-answer.ts'
import { SearchResult } from '../shapes/lists.ts'

/** The search of the discovery interface for each kind, over what is sold. */
export const searches: Readonly<Record<Kind, Reading>> = byKind(searchOf)

function searchOf(kind: Kind): Reading {
  const { plural, words, search } = goods[kind]
  return inDiscovery({
    id: `search${titleOf(plural)}`,
    path: discoveryPath(kind),
    name: `Search ${words.many}`,
    description: words.search,
    query: search.query,
    answers: answers(words.searchAnswer, SearchResult[kind]),
    ask(given, deps) {
      const index = deps.liveCatalog.current().sold[kind]
      const asked = search.read(given, index)
      const view = (offer: Offer) => discoveryOffer(offer, deps)
      return searchQuery({ index, asked, view, hasFacets: search.hasFacets })
    },
  })
}

/** The same search, with offers as in the search over all kinds: with their prices in USDC and required fields. */
export function searchOfKind(kind: Kind, given: ParamSource, deps: ReadDeps): Query {
  const index = deps.liveCatalog.current().sold[kind]
  const asked = goods[kind].search.read(given, index)
  const view = (offer: Offer) => catalogOffer(offer, deps)
  return searchQuery({ index, asked, view })
}
