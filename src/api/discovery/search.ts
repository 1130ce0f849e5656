import { byKind, goods } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { answers, inDiscovery, type Reading } from '../operation.ts'
import { discoveryPath, titleOf } from '../paths.ts'
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
    ask(given, { liveCatalog }) {
      const index = liveCatalog.current().sold[kind]
      const asked = search.read(given, index)
      return searchQuery({ index, asked, form: 'discovery', hasFacets: search.hasFacets })
    },
  })
}
