import type { Catalog } from '../../src/catalog/catalog.ts'
import { searchWithFacets } from '../../src/catalog/search/search.ts'
import { madeCatalog } from '../made-catalog.ts'
import { type Engine, pageSize } from './engine.ts'

const page = { limit: pageSize, offset: 0 }

/** The search of the store. Its answer includes the facets, in the published order. */
export function ours(): Engine {
  let catalog: Catalog
  return {
    build(offers) {
      catalog = madeCatalog(offers)
    },
    ask: (filters) => searchWithFacets(catalog.sold.topup, filters, page).total,
  }
}
