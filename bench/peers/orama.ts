import { create, insertMultiple, search } from '@orama/orama'
import type { Filters } from '../../src/catalog/search/filters.ts'
import { documentsOf, type Engine, pageSize } from './engine.ts'

const schema = {
  brandName: 'string',
  text: 'string',
  country: 'enum',
  regions: 'enum[]',
  subTypes: 'enum[]',
} as const

/**
 * Orama, with the filtered fields in its `enum` type. Nothing is sorted, so its sort indexes are off. A
 * threshold of 0 requires all words.
 */
export function orama({ typos }: { readonly typos: boolean }): Engine {
  const index = create({ schema, sort: { enabled: false } })
  return {
    async build(offers) {
      const documents = documentsOf(offers).map(({ brandName, text, country, ...lists }) => ({
        brandName,
        text,
        country,
        regions: [...lists.regions],
        subTypes: [...lists.subTypes],
      }))
      await insertMultiple(index, documents, 5_000)
    },
    async ask(filters) {
      const where = whereOf(filters)
      const found = await search(index, {
        ...wordsOf(filters),
        // Brands tolerate no typo (docs/contributors/decisions/017).
        ...(typos && filters.text !== undefined ? { tolerance: 1 } : {}),
        ...(Object.keys(where).length === 0 ? {} : { where }),
        limit: pageSize,
      })
      return found.count
    },
  }
}

function wordsOf({ text, brand }: Filters) {
  if (text !== undefined) return { term: text, properties: ['text' as const], threshold: 0 }
  return brand === undefined
    ? {}
    : { term: brand, properties: ['brandName' as const], threshold: 0 }
}

function whereOf({ country, regions, subType }: Filters) {
  return {
    ...(country === undefined ? {} : { country: { eq: country } }),
    ...(regions === undefined ? {} : { regions: { containsAny: [...regions] } }),
    ...(subType === undefined ? {} : { subTypes: { containsAll: [subType] } }),
  }
}
