import { fold } from '../../lib/text.ts'
import { addDocs, type Bits, countBetween, countShared, createBits } from './bits.ts'
import type { Docs } from './docs.ts'
import { highestFirst } from './highest.ts'
import { findText, type Texts } from './texts.ts'

/**
 * All values of one field. An offer may have several, but few combinations of values occur: each doc has the
 * number of its combination, so a test or a count reads one small number.
 */
export interface PackedColumn {
  /** The values without case and accents, sorted. */
  readonly keys: Texts
  /**
   * Each value as it is written, in JSON with a comma behind it, so that an array of neighbours is made with one
   * copy. Of several values with the same key, the first one found.
   */
  readonly quoted: { readonly starts: Uint32Array; readonly bytes: Uint8Array }
  /** The docs of each value, ascending. */
  readonly docs: Lists
  /** The combination that each doc has. */
  readonly codes: Codes
  /** For each combination, its values as indexes of `values`. */
  readonly valuesOf: Lists
  /** For each value, the combinations that have it. */
  readonly codesOf: Lists
}

/** A list of numbers for each key, all in one array. */
export interface Lists {
  /** Where each list begins, and one entry more for where the last one ends. */
  readonly starts: Uint32Array
  readonly numbers: Uint32Array
}

/** Two bytes each if they are enough, so that more of a column fits into the processor's cache. */
export type Codes = Uint16Array | Uint32Array

/** Values as their indexes in a column, ascending. */
export type Places = readonly number[]

export interface Column extends PackedColumn {
  /** How many values there are. */
  readonly size: number
  /** The values as they are written. Parsed on first use, because most columns are never shown whole. */
  readonly values: readonly string[]
  /** The docs of each value. Made on first use; afterwards it is always the same object. */
  readonly lists: (Docs | undefined)[]
  /** Likewise the docs of values as sets. */
  readonly sets: (Bits | undefined)[]
  /** Reused memory to mark combinations and values in, all zero between calls. */
  readonly marks: { readonly codes: Uint8Array; readonly values: Uint8Array }
}

export function openColumn(packed: PackedColumn): Column {
  const { quoted, valuesOf } = packed
  const size = quoted.starts.length - 1
  let values: readonly string[] | undefined
  return {
    ...packed,
    size,
    get values() {
      values ??= valuesIn(quoted.bytes)
      return values
    },
    lists: [],
    sets: [],
    marks: {
      codes: new Uint8Array(valuesOf.starts.length - 1),
      values: new Uint8Array(size),
    },
  }
}

function valuesIn(quoted: Uint8Array): readonly string[] {
  return JSON.parse(`[${Buffer.from(quoted).subarray(0, -1).toString()}]`)
}

/** The index of a value, compared without case and accents; undefined if no offer has it. */
export function placeIn({ keys }: PackedColumn, value: string): number | undefined {
  return findText(keys, fold(value))
}

/** A value in the catalog's spelling, compared without case and accents. */
export function writtenAs(column: Column, value: string): string | undefined {
  const place = placeIn(column, value)
  return place === undefined ? undefined : column.values[place]
}

export function listAt({ starts, numbers }: Lists, key: number): Uint32Array {
  return numbers.subarray(starts[key], starts[key + 1])
}

/** The docs of the value with this index. */
export function docsAt(column: Column, place: number): Docs {
  const { lists, docs } = column
  const known = lists[place] ?? listAt(docs, place)
  lists[place] = known
  return known
}

/** The same as a set. Its memory is a 32nd of a list of all docs, so it pays only for frequent values. */
export function setAt(column: Column, place: number): Bits {
  const { sets, codes } = column
  const known = sets[place]
  if (known !== undefined) return known
  const set = createBits(codes.length)
  addDocs(set, docsAt(column, place))
  sets[place] = set
  return set
}

/** How many docs the value with this index has. */
export function countAt({ docs: { starts } }: PackedColumn, place: number): number {
  return (starts[place + 1] as number) - (starts[place] as number)
}

/** Each value and how many docs have it. */
export function countsIn(column: Column): [value: string, docs: number][] {
  return column.values.map((value, place) => [value, countAt(column, place)])
}

/** The docs that have a value, compared without case and accents. */
export function docsWith(column: Column, value: string): Docs {
  const place = placeIn(column, value)
  return place === undefined ? none : docsAt(column, place)
}

const none: Docs = new Uint32Array(0)

/** The values that occur in the first `count` of these docs. */
export function placesAmong(column: Column, docs: Docs, count = docs.length): Places {
  const { marks } = column
  const isFew = count < marks.codes.length / 8
  if (isFew) return placesOf(column, codesAmong(column, docs, count))
  markCodes(column, docs, count)
  const codes: number[] = []
  for (let code = 0; code < marks.codes.length; code++)
    if (marks.codes[code] === 1) codes.push(code)
  marks.codes.fill(0)
  return placesOf(column, codes)
}

/** How many docs are marked before checking whether all combinations are marked. */
const docsPerLook = 2_048

/** Marks every doc without a branch: the processor could not predict it, and mispredictions cost more. */
function markCodes({ codes, marks }: Column, docs: Docs, count: number): void {
  const seen = marks.codes
  for (let from = 0; from < count; from += docsPerLook) {
    const end = Math.min(from + docsPerLook, count)
    for (let at = from; at < end; at++) seen[codes[docs[at] as number] as number] = 1
    if (!seen.includes(0)) return
  }
}

function placesOf(
  { valuesOf: { starts, numbers }, marks }: Column,
  codes: readonly number[],
): Places {
  const seen = marks.values
  const places: number[] = []
  for (let each = 0; each < codes.length; each++) {
    const code = codes[each] as number
    const end = starts[code + 1] as number
    for (let at = starts[code] as number; at < end; at++) {
      const place = numbers[at] as number
      if (seen[place] === 1) continue
      seen[place] = 1
      places.push(place)
    }
  }
  const sorted = ascending(places, seen)
  for (const place of places) seen[place] = 0
  return sorted
}

/** The combinations that occur in some docs, each once. */
function codesAmong({ codes, marks }: Column, docs: Docs, count: number): number[] {
  const seen = marks.codes
  const found: number[] = []
  for (let at = 0; at < count && found.length < seen.length; at++) {
    const code = codes[docs[at] as number] as number
    if (seen[code] === 1) continue
    seen[code] = 1
    found.push(code)
  }
  for (const code of found) seen[code] = 0
  return found
}

/**
 * Sorts places. Docs are in the order of their brand names, so places of those are mostly sorted already. Others
 * are read off the marks, unless there are too many marks for so few places.
 *
 * @param seen marks each of the places
 */
function ascending(places: number[], seen: Uint8Array): Places {
  if (isAscending(places)) return places
  if (seen.length > 16 * places.length) return places.toSorted((one, other) => one - other)
  const sorted: number[] = []
  for (let place = 0; place < seen.length; place++) if (seen[place] === 1) sorted.push(place)
  return sorted
}

function isAscending(places: readonly number[]): boolean {
  for (let at = 1; at < places.length; at++) {
    if ((places[at] as number) < (places[at - 1] as number)) return false
  }
  return true
}

export function valuesAt({ values }: Column, places: Places): string[] {
  return places.map((place) => values[place] as string)
}

/** The values that occur in some docs, sorted. */
export function valuesAmong(column: Column, docs: Docs): string[] {
  return valuesAt(column, placesAmong(column, docs))
}

/** Values and how many docs have each, the most frequent first, then by value. Values without docs are absent. */
export type Counts = readonly (readonly [value: string, docs: number])[]

/** Counts values in the first `count` docs: docs add to their combination, and that once to its values. */
export function countsAmong(
  column: Column,
  docs: Docs,
  count = docs.length,
  most?: number,
): Counts {
  return highest(column, countEach(column, docs, count), most)
}

/** Likewise in all docs except these. */
export function countsWithout(column: Column, docs: Docs, count: number, most?: number): Counts {
  const counts = countEach(column, docs, count)
  for (let place = 0; place < column.size; place++) {
    counts[place] = countAt(column, place) - (counts[place] as number)
  }
  return highest(column, counts, most)
}

function countEach(column: Column, docs: Docs, count: number): Uint32Array {
  const { codes, valuesOf, size } = column
  const { starts, numbers } = valuesOf
  const ofCodes = new Uint32Array(starts.length - 1)
  for (let at = 0; at < count; at++) {
    const code = codes[docs[at] as number] as number
    ofCodes[code] = (ofCodes[code] as number) + 1
  }
  const counts = new Uint32Array(size)
  for (let code = 0; code < ofCodes.length; code++) {
    const found = ofCodes[code] as number
    if (found === 0) continue
    const end = starts[code + 1] as number
    for (let at = starts[code] as number; at < end; at++) {
      const place = numbers[at] as number
      counts[place] = (counts[place] as number) + found
    }
  }
  return counts
}

/** How much longer it takes to count a value whose docs are neighbours than to read one doc. */
const lookOfNeighbours = 3

/**
 * Likewise in a set, 32 docs at a time.
 *
 * @param work how many docs would have to be read one by one instead
 * @returns undefined if reading them is faster, because the docs of many values are scattered
 */
export function countsInSet(
  column: Column,
  set: Bits,
  { most, work }: { readonly most: number; readonly work: number },
): Counts | undefined {
  const isFew = column.size * set.words.length < work
  if (!isFew && column.size * lookOfNeighbours >= work) return undefined
  const { starts, numbers } = column.docs
  const counts = new Uint32Array(column.size)
  for (let place = 0; place < column.size; place++) {
    const first = starts[place] as number
    const next = starts[place + 1] as number
    const low = numbers[first] as number
    const high = (numbers[next - 1] as number) + 1
    if (high - low === next - first) counts[place] = countBetween(set, low, high)
    else if (isFew) counts[place] = countShared(set, setAt(column, place))
    else return undefined
  }
  return highest(column, counts, most)
}

/** The values with the highest counts; of equal ones the lower index first. */
function highest({ values }: Column, counts: Uint32Array, most?: number): Counts {
  return highestFirst(counts, most).map((place) => [
    values[place] as string,
    counts[place] as number,
  ])
}
