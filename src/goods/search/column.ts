import { fold } from '../../primitives/text.ts'
import type { Docs } from './docs.ts'

/**
 * All values of one field. An offer may have several, but few combinations of values occur: an
 * offer holds the number of its combination, and a test or a count looks at one small number.
 */
export interface Column {
  /** Sorted by value, without case and accents. */
  readonly entries: readonly Entry[]
  readonly byKey: ReadonlyMap<string, Entry>
  /** The combination that each doc has. */
  readonly codes: Codes
  /** For each combination, its values as places in `entries`. */
  readonly combos: readonly (readonly number[])[]
  /** Room to mark combinations and values in, all zero between calls: making it costs more than using it. */
  readonly marks: { readonly combos: Uint8Array; readonly values: Uint8Array }
}

/** Two bytes each where they are enough, so that more of a column fits the processor's cache. */
type Codes = Uint16Array | Uint32Array

interface Entry {
  readonly value: string
  readonly docs: Docs
  /** The combinations with this value. */
  readonly combos: readonly number[]
}

export function columnOf<T>(rows: readonly T[], valuesOf: (row: T) => readonly string[]): Column {
  const { codes, found } = codesOf(rows, valuesOf)
  const names = new Map<string, string>()
  const keysOf = found.map((values) => {
    for (const value of values) if (!names.has(fold(value))) names.set(fold(value), value)
    return [...new Set(values.map(fold))]
  })
  const keys = [...names.keys()].sort((one, other) => (one < other ? -1 : 1))
  const places = new Map(keys.map((key, place) => [key, place]))
  const combos = keysOf.map((own) => own.map((key) => places.get(key) ?? 0))
  const docs = listsOf(codes, combos, keys.length)
  const combosWith: number[][] = keys.map(() => [])
  for (const [code, own] of combos.entries()) for (const place of own) combosWith[place]?.push(code)
  const entries = keys.map(
    (key, place): Entry => ({
      value: names.get(key) ?? key,
      docs: docs[place] ?? none,
      combos: combosWith[place] ?? [],
    }),
  )
  const marks = { combos: new Uint8Array(combos.length), values: new Uint8Array(keys.length) }
  const byKey = new Map(keys.map((key, at) => [key, entries[at] as Entry]))
  return { entries, byKey, codes, combos, marks }
}

const none: Docs = new Uint32Array(0)

function codesOf<T>(rows: readonly T[], valuesOf: (row: T) => readonly string[]) {
  const known = new Map<string, number>()
  const found: (readonly string[])[] = []
  const wide = new Uint32Array(rows.length)
  for (let doc = 0; doc < rows.length; doc++) {
    const values = valuesOf(rows[doc] as T)
    const key = keyOf(values)
    const code = known.get(key) ?? found.push(values) - 1
    known.set(key, code)
    wide[doc] = code
  }
  return { codes: found.length <= 0x1_00_00 ? Uint16Array.from(wide) : wide, found }
}

/** One text for each combination; no value is a line break by itself, which stands for none. */
function keyOf(values: readonly string[]): string {
  const [only] = values
  if (only === undefined) return '\n'
  return values.length === 1 ? only : values.join('\n')
}

/** For each value its docs, ascending. They are counted first, so that no list has to grow. */
function listsOf(codes: Codes, combos: Column['combos'], values: number): Docs[] {
  const sizes = sizesOf(codes, combos, values)
  const lists = Array.from(sizes, (size) => new Uint32Array(size))
  const filled = new Uint32Array(values)
  for (let doc = 0; doc < codes.length; doc++) {
    for (const place of combos[codes[doc] ?? 0] ?? []) {
      const at = filled[place] ?? 0
      const list = lists[place]
      if (list !== undefined) list[at] = doc
      filled[place] = at + 1
    }
  }
  return lists
}

function sizesOf(codes: Codes, combos: Column['combos'], values: number): Uint32Array {
  const sizes = new Uint32Array(values)
  for (const code of codes) {
    for (const place of combos[code] ?? []) sizes[place] = (sizes[place] ?? 0) + 1
  }
  return sizes
}

/** For each combination its docs, ascending. */
export function docsByCode({ codes, combos }: Column): Docs[] {
  return listsOf(
    codes,
    combos.map((_, code) => [code]),
    combos.length,
  )
}

/** The offers that have a value, compared without case and accents. */
export function docsWith(column: Column, value: string): Docs {
  return column.byKey.get(fold(value))?.docs ?? none
}

/** The values that occur among some offers, sorted. */
export function valuesAmong(column: Column, docs: Docs): string[] {
  const { combos, entries } = column
  const seen = column.marks.values
  const places: number[] = []
  for (const code of codesAmong(column, docs)) {
    for (const place of combos[code] ?? []) {
      if (seen[place] === 0) places.push(place)
      seen[place] = 1
    }
  }
  for (const place of places) seen[place] = 0
  // Offers stand in the order of their brand names, so those values mostly come sorted already.
  const sorted = places.every((place, at) => at === 0 || place > (places[at - 1] ?? 0))
  if (!sorted) places.sort((one, other) => one - other)
  return places.map((place) => entries[place]?.value ?? '')
}

/** The combinations that occur among some offers, each once. */
function codesAmong({ codes, marks }: Column, docs: Docs): number[] {
  const seen = marks.combos
  const found: number[] = []
  for (let at = 0; at < docs.length && found.length < seen.length; at++) {
    const code = codes[docs[at] ?? 0] ?? 0
    if (seen[code] === 1) continue
    seen[code] = 1
    found.push(code)
  }
  for (const code of found) seen[code] = 0
  return found
}

/** How many of some offers have each value, most first, then by value. Values without any are absent. */
export function countsAmong({ codes, combos, entries }: Column, docs: Docs): [string, number][] {
  const counts = new Uint32Array(entries.length)
  for (const doc of docs) {
    for (const place of combos[codes[doc] ?? 0] ?? []) counts[place] = (counts[place] ?? 0) + 1
  }
  return entries
    .map((entry, place): [string, number] => [entry.value, counts[place] ?? 0])
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one)
}
