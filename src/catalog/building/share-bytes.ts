import type { Parts } from '../ready-json.ts'
import { growing } from './growing.ts'

/**
 * Puts texts into one memory that holds what they have in common only once: of each text only the new bytes are
 * added, and the rest refers to where those bytes are already.
 */
export interface SharedBytes {
  /** Adds the parts of a text behind those of the text before it. */
  add(text: Uint8Array): void
  /** How many parts there are so far. */
  readonly count: () => number
  finish(): Parts
}

/**
 * A repeated part is found by this many bytes from a quote or a space on, since fields of JSON and words begin
 * with one. Looking at every byte would find hardly more, and take more than twice as long.
 */
const seedBytes = 32
const seedBits = 21
const [space, quote] = [0x20, 0x22]
/** The shortest part that is shared: copying many short ones would cost a search more than the memory is worth. */
const minBytes = 64
const maxBytes = 2 ** 16 - 1

export function shareBytes(): SharedBytes {
  let memory = new Uint8Array(2 ** 16)
  let length = 0
  const starts = growing()
  const lengths = growing()
  /** By hash, where those bytes were last, plus one. The last, because neighbours in a list have most in common. */
  const seeds = new Uint32Array(2 ** seedBits)
  let seeded = 0

  const addPart = (start: number, end: number) => {
    for (let from = start; from < end; from += maxBytes) {
      starts.push(from)
      lengths.push(Math.min(maxBytes, end - from))
    }
  }
  const addNew = (bytes: Uint8Array) => {
    while (length + bytes.length > memory.length) memory = doubled(memory)
    memory.set(bytes, length)
    addPart(length, length + bytes.length)
    length += bytes.length
  }
  const remember = () => {
    for (; seeded + seedBytes <= length; seeded += 1) {
      if (isBorder(memory[seeded])) seeds[hashAt(memory, seeded)] = seeded + 1
    }
  }
  /** Where the text around a place is in memory already, and how many bytes before and after; `told` are done. */
  const knownAround = (
    known: Uint8Array,
    text: Uint8Array,
    { at, told }: { readonly at: number; readonly told: number },
  ) => {
    const seen = (seeds[hashAt(text, at)] as number) - 1
    const after = seen < 0 ? 0 : sameAfter(known, seen, text, at)
    const before = after < seedBytes ? 0 : sameBefore(known, seen, text.subarray(told), at - told)
    return { seen, before, after }
  }

  return {
    count: starts.length,
    add(text) {
      const known = memory.subarray(0, length)
      let told = 0
      for (let at = 0; at + seedBytes <= text.length; at += 1) {
        if (at < told || !isBorder(text[at])) continue
        const { seen, before, after } = knownAround(known, text, { at, told })
        if (before + after < minBytes) continue
        addNew(text.subarray(told, at - before))
        addPart(seen - before, seen + after)
        told = at + after
      }
      addNew(text.subarray(told))
      remember()
    },
    finish: () => ({
      memory: memory.slice(0, length),
      starts: starts.take(),
      lengths: Uint16Array.from(lengths.take()),
    }),
  }
}

function isBorder(byte: number | undefined): boolean {
  return byte === quote || byte === space
}

/** How many bytes are equal from the two places on. */
function sameAfter(one: Uint8Array, at: number, other: Uint8Array, otherAt: number): number {
  const most = Math.min(one.length - at, other.length - otherAt)
  let same = 0
  while (same < most && one[at + same] === other[otherAt + same]) same += 1
  return same
}

/** How many bytes are equal before the two places. */
function sameBefore(one: Uint8Array, at: number, other: Uint8Array, otherAt: number): number {
  const most = Math.min(at, otherAt)
  let same = 0
  while (same < most && one[at - same - 1] === other[otherAt - same - 1]) same += 1
  return same
}

function doubled(memory: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * memory.length)
  larger.set(memory)
  return larger
}

/** FNV-1a over every third byte of a seed, which is enough, because all bytes are compared afterwards. */
function hashAt(bytes: Uint8Array, at: number): number {
  let hash = 0x811c9dc5
  for (let next = at; next < at + seedBytes; next += 3)
    hash = Math.imul(hash ^ (bytes[next] as number), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> (32 - seedBits)
}
