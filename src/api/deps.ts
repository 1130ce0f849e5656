import type { LiveCatalog } from '../catalog/catalog.ts'
import type { Pricing } from '../catalog/pricing.ts'
import type { Site } from './site.ts'

/** What the API needs to show what the store has. */
export interface ReadDeps {
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  readonly site: Site
}
