import { fold } from '../../lib/text.ts'
import { addDocs, type Bits, countBetween, countShared, createBits } from './bits.ts'
import type { Docs } from './docs.ts'
import { highestFirst } from './highest.ts'
import { findText, type Texts } from './texts.ts'

/**
 * All values of one field. An offer may have several, but few combinations of values occur: a doc
 * holds the number of its combination, and a test or a count looks at one small number.
 */
export interface PackedColumn {
  /** The values without case and accents, sorted. */
  readonly keys: Texts
  /**
   * Each value as it is written, in JSON with a comma behind it: the inside of an array of neighbours
   * is one copy. Of values that have one key it is the first one found.
   */
  readonly quoted: { readonly starts: Uint32Array; readonly bytes: Uint8Array }
  /** The docs of each value, ascending. */
  readonly docs: Lists
  /** The combination that each doc has. */
  readonly codes: Codes
  /** For each combination, its values as places in `values`. */
  readonly valuesOf: Lists
  /** For each value, the combinations that have it. */
  readonly codesOf: Lists
}

/** For each of some keys a list of numbers, all in one array. */
export interface Lists {
  /** Where each list begins; one more entry than keys says where the last ends. */
  readonly starts: Uint32Array
  readonly numbers: Uint32Array
}

/** Two bytes each where they are enough, so that more of a column fits the processor's cache. */
export type Codes = Uint16Array | Uint32Array

/** Values as places in a column, ascending. */
export type Places = readonly number[]

export interface Column extends PackedColumn {
  /** How many values there are. */
  readonly size: number
  /** The values as they are written, read when first asked for: most columns are never shown whole. */
  readonly values: readonly string[]
  /** The docs of each value, made when first asked for: asked twice, it is the same object. */
  readonly lists: (Docs | undefined)[]
  /** Those of frequent values as sets, likewise. */
  readonly sets: (Bits | undefined)[]
  /** Room to mark combinations and values in, all zero between calls: making it costs more than using it. */
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

/** Where a value stands, compared without case and accents; undefined where no offer has it. */
export function placeIn({ keys }: PackedColumn, value: string): number | undefined {
  return findText(keys, fold(value))
}

/** A value as it is written in the catalog, however it is given. */
export function writtenAs(column: Column, value: string): string | undefined {
  const place = placeIn(column, value)
  return place === undefined ? undefined : column.values[place]
}

export function listAt({ starts, numbers }: Lists, key: number): Uint32Array {
  return numbers.subarray(starts[key], starts[key + 1])
}

/** The docs of the value at this place. */
export function docsAt(column: Column, place: number): Docs {
  const { lists, docs } = column
  const known = lists[place] ?? listAt(docs, place)
  lists[place] = known
  return known
}

/** The same as a set: a 32nd of what a list of all docs takes, so few values are worth one. */
export function setAt(column: Column, place: number): Bits {
  const { sets, codes } = column
  const known = sets[place]
  if (known !== undefined) return known
  const set = createBits(codes.length)
  addDocs(set, docsAt(column, place))
  sets[place] = set
  return set
}

/** How many docs the value at this place has. */
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

/** The values that occur among some docs. */
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

/** How many docs are marked before a look whether every combination is. */
const docsPerLook = 2_048

/** Marks without asking what is marked already: that cannot be guessed, and guessing wrong costs more. */
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

/** The combinations that occur among some docs, each once. */
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
 * Docs stand in the order of their brand names, so those places mostly come sorted already. Others
 * are read off the marks, where there are not too many of them.
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

/** The values that occur among some docs, sorted. */
export function valuesAmong(column: Column, docs: Docs): string[] {
  return valuesAt(column, placesAmong(column, docs))
}

/** Values and how many docs have each, most first, then by value. Those without any are absent. */
export type Counts = readonly (readonly [value: string, docs: number])[]

/** Counts values among the first `count` docs: each adds to its combination, and those to their values once. */
export function countsAmong(
  column: Column,
  docs: Docs,
  count = docs.length,
  most?: number,
): Counts {
  return highest(column, countEach(column, docs, count), most)
}

/** Likewise among all docs but these. */
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

/** What counting a value takes whose docs stand together, beside a look at one doc. */
const lookOfNeighbours = 3

/**
 * Likewise among a set, 32 docs at a time.
 *
 * @param work how many docs to look at one by one would tell it too. Undefined where that is sooner done,
 *   because many values stand scattered.
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

/** The values with the highest counts, of equal ones the lower place first. */
function highest({ values }: Column, counts: Uint32Array, most?: number): Counts {
  return highestFirst(counts, most).map((place) => [
    values[place] as string,
    counts[place] as number,
  ])
}
