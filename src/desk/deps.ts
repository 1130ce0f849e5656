import type { Shelf } from '../goods/catalog.ts'
import type { Pricing } from '../goods/pricing.ts'
import type { Site } from './site.ts'

/** What the desk needs to show what the store has. */
export interface ReadDeps {
  readonly shelf: Shelf
  readonly pricing: Pricing
  readonly site: Site
}
