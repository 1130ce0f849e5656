import MiniSearch, { type QueryCombination } from 'minisearch'
import type { Filters } from '../../src/catalog/search/filters.ts'
import { type Document, documentsOf, type Engine, pageSize } from './engine.ts'

/**
 * MiniSearch. A filter is a further query that must match, over a field whose whole value is one term. That
 * is several times faster than its `filter` function, which is called for every result of the text.
 */
export function miniSearch({ typos }: { readonly typos: boolean }): Engine {
  const whole = ['country', 'regions', 'subTypes'] as const
  const index = new MiniSearch<Document>({
    fields: ['brandName', 'text', ...whole],
    extractField: (document, field) => {
      const value = document[field as keyof Document]
      return Array.isArray(value) ? value.join('\n') : String(value)
    },
    tokenize: (text, field) =>
      whole.some((name) => name === field)
        ? text.split('\n')
        : MiniSearch.getDefault('tokenize')(text),
    searchOptions: { combineWith: 'AND' },
  })
  const words = (field: string, text: string): QueryCombination => ({
    queries: [text],
    fields: [field],
    prefix: true,
    // Brands and short words tolerate no typo (docs/contributors/decisions/017).
    fuzzy: (term) => (typos && field === 'text' && term.length >= 5 ? 1 : false),
    combineWith: 'AND',
    tokenize: MiniSearch.getDefault('tokenize'),
  })
  const value = (field: string, values: readonly string[]): QueryCombination => ({
    queries: [...values],
    fields: [field],
    combineWith: 'OR',
    tokenize: (text) => [text],
  })
  const queriesOf = ({ brand, text, country, subType, regions }: Filters): QueryCombination[] => [
    ...(text === undefined ? [] : [words('text', text)]),
    ...(brand === undefined ? [] : [words('brandName', brand)]),
    ...(country === undefined ? [] : [value('country', [country])]),
    ...(subType === undefined ? [] : [value('subTypes', [subType])]),
    ...(regions === undefined ? [] : [value('regions', regions)]),
  ]
  return {
    build: (offers) => index.addAll(documentsOf(offers)),
    ask(filters) {
      const queries = queriesOf(filters)
      const found = index.search(
        queries.length === 0 ? MiniSearch.wildcard : { combineWith: 'AND', queries },
      )
      found.slice(0, pageSize)
      return found.length
    },
  }
}
