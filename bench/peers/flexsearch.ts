import { Encoder, type Id, Document as Index } from 'flexsearch'
import type { Filters } from '../../src/catalog/search/filters.ts'
import { documentsOf, type Engine, pageSize } from './engine.ts'

/**
 * FlexSearch, with prefixes by its `forward` tokenizer and filters by its tags. It has no count, so the
 * total is the number of results without a limit.
 */
export function flexSearch(): Engine {
  const words = { tokenize: 'forward', encoder: new Encoder({ dedupe: false }) } as const
  const index = new Index({
    document: {
      id: 'id',
      index: [
        { field: 'brandName', ...words },
        { field: 'text', ...words },
      ],
      tag: ['country', 'regions', 'subTypes'].map((field) => ({ field })),
    },
  })
  let all: number[] = []
  const idsOf = (filters: Filters): readonly Id[] => {
    const tag = tagsOf(filters)
    const isTagged = Object.keys(tag).length > 0
    const [field, query] =
      filters.text === undefined ? ['brandName', filters.brand] : ['text', filters.text]
    const limit = all.length
    const found = [
      ...(query === undefined ? [] : [index.search({ query, pluck: field, resolve: false })]),
      ...(isTagged ? [index.search({ tag, limit, resolve: false })] : []),
    ]
    const [first, second] = found
    if (first === undefined) return all
    return (second === undefined ? first : first.and(second)).resolve({ limit })
  }
  return {
    build(offers) {
      const documents = documentsOf(offers)
      all = documents.map(({ id }) => id)
      for (const { id, brandName, text, country, ...lists } of documents) {
        const [regions, subTypes] = [[...lists.regions], [...lists.subTypes]]
        index.add({ id, brandName, text, country, regions, subTypes })
      }
    },
    ask(filters) {
      const ids = idsOf(filters)
      ids.slice(0, pageSize)
      return ids.length
    },
  }
}

function tagsOf({ country, regions, subType }: Filters): Record<string, string> {
  const [region] = regions ?? []
  return {
    ...(country === undefined ? {} : { country }),
    ...(region === undefined ? {} : { regions: region }),
    ...(subType === undefined ? {} : { subTypes: subType }),
  }
}
