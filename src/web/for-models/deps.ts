import type { Site } from '../../api/site.ts'

/** What the pages for models are made of. They do not change while the store runs. */
export interface ModelPageDeps {
  readonly site: Site
  /** The name of the chain that is paid on, as people know it. */
  readonly networkName: string
  readonly now: () => Date
}
