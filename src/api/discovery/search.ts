import * as z from 'zod'
import { byKind, goods } from '../../catalog/good.ts'
import { names } from '../../catalog/kinds/fields.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import type { ReadSearch } from '../../catalog/search/offer-search.ts'
import type { ParamSource } from '../../catalog/search/params.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import type { ReadDeps } from '../deps.ts'
import { catalogOffer, DiscoveryOffer, discoveryOffer } from '../offers.ts'
import { answers, inDiscovery, type Reading } from '../operation.ts'
import { discoveryPath, titleOf } from '../paths.ts'
import type { Published } from '../published.ts'

export const count = z.int().min(0)

/** The published shape of every list, besides its items. */
export const page = {
  total: count.describe('How many match'),
  limit: count,
  offset: count,
}

const Hint = z
  .object({
    message: z.string(),
    parameter: z.string().optional().describe('The filter that emptied the result'),
    nearest: z.string().optional().describe('A value of it that finds something'),
  })
  .meta({ id: 'Hint', description: 'Why a search found nothing, and what would.' })

/** The shape of a page of a search. */
export function pageOfOffers(id: string, item: z.ZodType, more: z.ZodRawShape = {}) {
  return z.object({ ...page, items: z.array(item), hint: Hint.optional(), ...more }).meta({ id })
}

/** One page of offers, or a hint why there are none. */
export function pageAnswer(
  index: SearchIndex,
  { page, filters, hint }: ReadSearch,
  view: (offer: Offer) => Published,
): Published {
  const { total, offers } = index.search(filters, page)
  return { total, ...page, items: offers.map(view), ...(total === 0 ? { hint: hint() } : {}) }
}

const Facets = z
  .object({
    countries: names,
    regions: names,
    brands: names.describe('At most 100, those with the most offers first'),
    subTypes: names,
  })
  .meta({ id: 'Facets', description: 'What each filter could be switched to, the others kept.' })

const FacetTotals = z
  .object({ brands: count.describe('How many there are') })
  .meta({ id: 'FacetTotals', description: 'Of facets that may be cut, how many values there are.' })

/** The search of the discovery interface for each kind, over what is sold. */
export const searches: Readonly<Record<Kind, Reading>> = byKind((kind) => {
  const { plural, words, search } = goods[kind]
  const facets = search.hasFacets ? { facets: Facets, facetTotals: FacetTotals } : {}
  const shape = pageOfOffers(`${titleOf(kind)}SearchResult`, DiscoveryOffer[kind], facets)
  return inDiscovery({
    id: `search${titleOf(plural)}`,
    path: discoveryPath(kind),
    name: `Search ${words.many}`,
    description: words.search,
    query: search.query,
    answers: answers(words.searchAnswer, shape),
    ask(given, deps) {
      const index = deps.liveCatalog.current().sold[kind]
      const read = search.read(given, index)
      const answer = pageAnswer(index, read, (offer) => discoveryOffer(offer, deps))
      if (!search.hasFacets) return answer
      const { brandTotal, ...facets } = index.facets(read.filters)
      return { ...answer, facets, facetTotals: { brands: brandTotal } }
    },
  })
})

/** The same search, with offers as in the search over all kinds: with their prices in USDC and required fields. */
export function searchOfKind(kind: Kind, given: ParamSource, deps: ReadDeps): Published {
  const index = deps.liveCatalog.current().sold[kind]
  const read = goods[kind].search.read(given, index)
  return pageAnswer(index, read, (offer) => catalogOffer(offer, deps))
}
