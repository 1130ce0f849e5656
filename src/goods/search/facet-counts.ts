import { addDocs, type Bits, docsIn } from './bits.ts'
import { type Column, type Counts, countsAmong, countsInSet } from './column.ts'
import type { Docs } from './docs.ts'
import { type Filters, type Found, met, type Query } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

/** More values than this no page shows. There are fewer countries. */
const valuesMost = 250

/**
 * Counts the values of a column among what a query finds with the filters of one facet left open, so
 * that a visitor can switch from one value to another.
 *
 * @param found what the whole query finds
 */
export function facetCounts(index: SearchIndex, { clauses }: Query, found: Found) {
  const counter = countingAmong(index, found)
  return (column: Column, ...own: readonly (keyof Filters)[]): Counts => {
    const left = clauses.filter((clause) => !own.includes(clause.own))
    const isWhole = left.length === clauses.length
    return (isWhole ? counter : countingAmong(index, met(index, left)))(column)
  }
}

/** What is counted among the docs of one filter, or of none, stays true as long as its index. */
const remembered = new WeakMap<Docs, Map<Column, Counts>>()

function countingAmong(index: SearchIndex, found: Found): (column: Column) => Counts {
  if ('docs' in found && found.kept) return countingAmongKept(found.docs)
  const { total } = found
  const { size, scratch } = index
  let set: Bits | undefined = 'bits' in found ? found.bits : undefined
  let docs: Docs | undefined = 'docs' in found ? found.docs : undefined
  const counted = (column: Column) => {
    if (total < size / 32) return undefined
    if (set === undefined) {
      set = scratch.bits()
      addDocs(set, docs as Docs, total)
    }
    return countsInSet(column, set, valuesMost)
  }
  return (column) => {
    const counts = counted(column)
    if (counts !== undefined) return counts
    if (docs === undefined) {
      docs = scratch.docs()
      docsIn(set as Bits, docs)
    }
    return countsAmong(column, docs, total, valuesMost)
  }
}

function countingAmongKept(docs: Docs): (column: Column) => Counts {
  const ofDocs = remembered.get(docs) ?? new Map<Column, Counts>()
  remembered.set(docs, ofDocs)
  return (column) => {
    const counts = ofDocs.get(column) ?? countsAmong(column, docs, docs.length, valuesMost)
    ofDocs.set(column, counts)
    return counts
  }
}
