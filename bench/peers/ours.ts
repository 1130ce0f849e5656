import { buildCatalog, type Catalog } from '../../src/goods/catalog.ts'
import { searchWithFacets } from '../../src/goods/search/search.ts'
import { type Engine, pageSize } from './engine.ts'

const pricing = { markupBps: 0, rates: () => undefined, now: () => new Date() }
const page = { limit: pageSize, offset: 0 }

/** The search of the store. Its answer has the facets too, its order is the published one. */
export function ours(): Engine {
  let catalog: Catalog
  return {
    build(offers) {
      catalog = buildCatalog({ offers, readAt: new Date(), setAside: {} }, pricing)
    },
    ask: (filters) => searchWithFacets(catalog.index.topup, filters, page).total,
  }
}
