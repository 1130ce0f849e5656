import { fold } from '../../primitives/text.ts'
import { type Docs, marksOf } from './docs.ts'

/** All values of one field, each with the offers that have it. */
export interface Column {
  /** Sorted by value, without case and accents. */
  readonly entries: readonly Entry[]
  readonly byKey: ReadonlyMap<string, Entry>
}

interface Entry {
  readonly value: string
  readonly docs: Docs
}

export function columnOf<T>(rows: readonly T[], valuesOf: (row: T) => Iterable<string>): Column {
  const lists = new Map<string, { value: string; list: number[] }>()
  for (const [doc, row] of rows.entries()) {
    for (const value of valuesOf(row)) {
      const key = fold(value)
      const known = lists.get(key)
      if (known === undefined) lists.set(key, { value, list: [doc] })
      else if (known.list.at(-1) !== doc) known.list.push(doc)
    }
  }
  const sorted = [...lists].sort(([one], [other]) => (one < other ? -1 : 1))
  const byKey = new Map(
    sorted.map(([key, { value, list }]) => [key, { value, docs: Uint32Array.from(list) }]),
  )
  return { entries: [...byKey.values()], byKey }
}

/** The offers that have a value, compared without case and accents. */
export function docsWith(column: Column, value: string): Docs {
  return column.byKey.get(fold(value))?.docs ?? new Uint32Array(0)
}

/** The values that occur among some offers, sorted. */
export function valuesAmong(column: Column, docs: Docs, size: number): string[] {
  const marks = marksOf([docs], size)
  return column.entries
    .filter((entry) => entry.docs.some((doc) => marks[doc] === 1))
    .map((entry) => entry.value)
}

/** How many of some offers have each value, most first, then by value. Values without any are absent. */
export function countsAmong(column: Column, docs: Docs, size: number): [string, number][] {
  const marks = marksOf([docs], size)
  return column.entries
    .map((entry): [string, number] => [entry.value, countMarked(entry.docs, marks)])
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
}

function countMarked(docs: Docs, marks: Uint8Array): number {
  let count = 0
  for (const doc of docs) count += marks[doc] ?? 0
  return count
}
