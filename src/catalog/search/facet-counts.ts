import { docsIn, docsOutside } from './bits.ts'
import { type Column, type Counts, countsAmong, countsInSet, countsWithout } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, type Matches, met, type Query, setOf } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

/** The most values that are counted: no page shows more. There are fewer countries. */
const maxValues = 250

/**
 * Counts the values of a column in what a query finds without the filters of one facet, so that a visitor can
 * switch from one value to another.
 *
 * @param found what the whole query finds
 */
export function facetCounts(index: SearchIndex, { clauses }: Query, found: Matches) {
  const counter = countingAmong(index, found)
  return (column: Column, ...own: readonly (keyof Filters)[]): Counts => {
    const left = clauses.filter((clause) => !own.includes(clause.own))
    const isWhole = left.length === clauses.length
    return (isWhole ? counter : countingAmong(index, met(index, left)))(column)
  }
}

/** The counts in lists that the index keeps. They stay true as long as the index exists. */
const remembered = new WeakMap<Docs, Map<Column, Counts>>()

/**
 * If few docs are found, or few are not found, those are read one by one; otherwise sets are compared 32 docs at a
 * time, for the columns that allow it.
 */
function countingAmong(index: SearchIndex, found: Matches): (column: Column) => Counts {
  const { size, scratch, all } = index
  const { total } = found
  if (total === size) return countingAmongKept(all)
  if ('docs' in found && found.kept) return countingAmongKept(found.docs)
  const isMost = total > size / 2
  const gone = isMost ? size - total : total
  const set = once(() => setOf(index, found))
  const listed = once(() => {
    if (!isMost && 'docs' in found) return found.docs
    const docs = scratch.docs()
    if (isMost) docsOutside(set(), size, docs)
    else docsIn(set(), docs)
    return docs
  })
  return (column) => {
    const counts =
      gone < size / 32 ? undefined : countsInSet(column, set(), { most: maxValues, work: gone })
    return counts ?? (isMost ? countsWithout : countsAmong)(column, listed(), gone, maxValues)
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

function countingAmongKept(docs: Docs): (column: Column) => Counts {
  const ofDocs = remembered.get(docs) ?? new Map<Column, Counts>()
  remembered.set(docs, ofDocs)
  return (column) => {
    const counts = ofDocs.get(column) ?? countsAmong(column, docs, docs.length, maxValues)
    ofDocs.set(column, counts)
    return counts
  }
}
