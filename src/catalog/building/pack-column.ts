import { fold } from '../../lib/text.ts'
import type { Codes, Lists, PackedColumn } from '../search/column.ts'
import { packTexts } from '../search/texts.ts'
import { type Growing, growing } from './growing.ts'

/** Collects the values of one field, offer by offer. */
export interface Field {
  add(values: readonly string[]): void
  /** The combination of values of each row, as an index of `found`. */
  readonly codes: Growing<Uint32Array>
  readonly found: readonly (readonly string[])[]
}

export function field(): Field {
  const known = new Map<string, number>()
  const found: (readonly string[])[] = []
  const codes = growing()
  return {
    codes,
    found,
    add(values) {
      const key = keyOf(values)
      const code = known.get(key) ?? found.push(values) - 1
      known.set(key, code)
      codes.push(code)
    },
  }
}

/** One text for each combination of values. A line break alone stands for no values; no value is that. */
function keyOf(values: readonly string[]): string {
  const [only] = values
  if (only === undefined) return '\n'
  return values.length === 1 ? only : values.join('\n')
}

/** @param rows those that become docs, in the order of the docs */
export function packColumn({ codes, found }: Field, rows: Uint32Array): PackedColumn {
  const { docCodes, used } = renumbered(codes, rows, found.length)
  const names = new Map<string, string>()
  const keysOf = used.map((code) => {
    const values = found[code] ?? []
    for (const value of values) if (!names.has(fold(value))) names.set(fold(value), value)
    return [...new Set(values.map(fold))]
  })
  const keys = [...names.keys()].sort((one, other) => (one < other ? -1 : 1))
  const places = new Map(keys.map((key, place) => [key, place]))
  const valuesOf = keysOf.map((own) => own.map((key) => places.get(key) ?? 0))
  return {
    keys: packTexts(keys),
    quoted: quotedOf(keys.map((key) => names.get(key) ?? key)),
    codes: docCodes,
    valuesOf: listsOf(valuesOf),
    codesOf: inverted(keys.length, (add) => {
      for (const [code, own] of valuesOf.entries()) for (const place of own) add(place, code)
    }),
    docs: inverted(keys.length, (add) => {
      for (let doc = 0; doc < docCodes.length; doc++) {
        for (const place of valuesOf[docCodes[doc] as number] ?? []) add(place, doc)
      }
    }),
  }
}

function quotedOf(values: readonly string[]): PackedColumn['quoted'] {
  const parts = values.map((value) => Buffer.from(`${JSON.stringify(value)},`))
  const starts = new Uint32Array(parts.length + 1)
  for (const [at, { length }] of parts.entries()) starts[at + 1] = (starts[at] as number) + length
  return { starts, bytes: Uint8Array.from(Buffer.concat(parts)) }
}

/** Numbers the combinations that occur in the rows, in the order of the first doc that has each. */
function renumbered(codes: Growing<Uint32Array>, rows: Uint32Array, count: number) {
  const numbers = new Uint32Array(count)
  const used: number[] = []
  const wide = new Uint32Array(rows.length)
  for (let doc = 0; doc < rows.length; doc++) {
    const code = codes.at(rows[doc] as number)
    if (numbers[code] === 0) numbers[code] = used.push(code)
    wide[doc] = (numbers[code] as number) - 1
  }
  const docCodes: Codes = used.length <= 0x1_00_00 ? Uint16Array.from(wide) : wide
  return { docCodes, used }
}

function listsOf(lists: readonly (readonly number[])[]): Lists {
  const starts = new Uint32Array(lists.length + 1)
  for (const [key, { length }] of lists.entries())
    starts[key + 1] = (starts[key] as number) + length
  return { starts, numbers: Uint32Array.from(lists.flat()) }
}

/** For each key the numbers that are added with it, in that order. `each` runs twice: to count, then to fill. */
export function inverted(
  keys: number,
  each: (add: (key: number, number: number) => void) => void,
): Lists {
  const starts = new Uint32Array(keys + 1)
  each((key) => {
    starts[key + 1] = (starts[key + 1] as number) + 1
  })
  for (let key = 0; key < keys; key++) {
    starts[key + 1] = (starts[key + 1] as number) + (starts[key] as number)
  }
  const numbers = new Uint32Array(starts[keys] as number)
  const ends = starts.slice(0, keys)
  each((key, number) => {
    const end = ends[key] as number
    numbers[end] = number
    ends[key] = end + 1
  })
  return { starts, numbers }
}
