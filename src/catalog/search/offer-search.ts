import type { Filters } from './filters.ts'
import { type Alternatives, type Hint, hintFor } from './hint.ts'
import type { ParamSource } from './param-source.ts'
import { type Params, pageOf, paging, readParams, type ValuesOf } from './params.ts'
import type { Page, SearchIndex } from './search-index.ts'

/** The search over offers of one kind in one interface. */
export interface OfferSearch {
  readonly query: Params
  /** Whether the answer has facets, the values to switch to. */
  readonly hasFacets: boolean
  /** @throws Refusal 400 that names the one parameter at fault and what it may be */
  read(given: ParamSource, index: SearchIndex): ReadSearch
}

/** A search as it was understood. */
export interface ReadSearch {
  readonly page: Page
  readonly filters: Filters
  /** Explains why nothing was found, and what would find something. */
  hint(): Hint
}

interface Definition<P extends Params> {
  readonly query: P
  /** The most offers on a page. */
  readonly maxLimit: number
  readonly hasFacets?: true
  /** What is looked for, in the plural. */
  readonly plural: string
  filtersOf(params: ValuesOf<P>): Filters
  /** Checks what only the index can tell. @throws Refusal for values that cannot be combined */
  checked?(params: ValuesOf<P>, index: SearchIndex): ValuesOf<P>
  /** In the order in which a caller would rather change the parameters. */
  alternativesIn(index: SearchIndex): Alternatives<ValuesOf<P>>
}

/** Hides the types of a search's parameters, so that the code that answers need not know them. */
export function defineSearch<const P extends Params>(search: Definition<P>): OfferSearch {
  const query = { ...search.query, ...paging(search.maxLimit) }
  const { plural } = search
  return {
    query,
    hasFacets: search.hasFacets ?? false,
    read(given, index) {
      const { limit, offset, ...read } = readParams<Params>(given, query)
      const page = pageOf({ limit, offset } as Partial<Page>)
      const params = search.checked?.(read as ValuesOf<P>, index) ?? (read as ValuesOf<P>)
      const { filtersOf } = search
      const alternatives = search.alternativesIn(index)
      return {
        page,
        filters: filtersOf(params),
        hint: () => hintFor({ params, index, filtersOf, alternatives, noun: plural }),
      }
    },
  }
}
