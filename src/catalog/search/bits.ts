import type { Docs } from './docs.ts'
import type { Runs } from './runs.ts'

/**
 * A set of docs, one bit for each: unions and intersections take 32 docs at a time. What a text finds lies close
 * together, so only the words between `from` and `to` are ever read.
 */
export interface Bits {
  readonly words: Uint32Array
  /** All words outside are zero. */
  from: number
  to: number
}

export function createBits(size: number): Bits {
  const words = new Uint32Array((size + 31) >>> 5)
  return { words, from: words.length, to: 0 }
}

export function clear(bits: Bits): void {
  if (bits.from < bits.to) bits.words.fill(0, bits.from, bits.to)
  bits.from = bits.words.length
  bits.to = 0
}

export function hasBit({ words }: Bits, doc: number): boolean {
  return (((words[doc >>> 5] as number) >>> (doc & 31)) & 1) === 1
}

export function addDocs(bits: Bits, docs: Docs, count = docs.length): void {
  const { words } = bits
  for (let at = 0; at < count; at++) {
    const doc = docs[at] as number
    words[doc >>> 5] = (words[doc >>> 5] as number) | (1 << (doc & 31))
  }
  if (count > 0) touch(bits, (docs[0] as number) >>> 5, ((docs[count - 1] as number) >>> 5) + 1)
}

/**
 * Adds the first docs of an order of all docs to an empty set: one by one, or by removing the others from the
 * full set, whichever are fewer.
 */
export function addFirst(bits: Bits, order: Uint32Array, count: number): void {
  if (count === 0) return
  const { words } = bits
  const isMost = count > order.length / 2
  if (isMost) addRange(words, 0, order.length)
  const end = isMost ? order.length : count
  for (let at = isMost ? count : 0; at < end; at++) {
    const doc = order[at] as number
    words[doc >>> 5] = (words[doc >>> 5] as number) ^ (1 << (doc & 31))
  }
  touch(bits, 0, words.length)
}

/** Adds the docs of one key of `runs`. Returns how many docs that key has. */
export function addRuns(bits: Bits, { bounds, starts }: Runs, key: number): number {
  const begin = starts[key] as number
  const end = starts[key + 1] as number
  let docs = 0
  for (let at = begin; at < end; at += 2) {
    const first = bounds[at] as number
    const next = bounds[at + 1] as number
    addRange(bits.words, first, next)
    docs += next - first
  }
  if (begin < end) {
    touch(bits, (bounds[begin] as number) >>> 5, (((bounds[end - 1] as number) - 1) >>> 5) + 1)
  }
  return docs
}

/** Sets the bits from `first` up to, not including, `next`; at least one. */
function addRange(words: Uint32Array, first: number, next: number): void {
  const low = first >>> 5
  const high = (next - 1) >>> 5
  const head = -1 << (first & 31)
  const tail = -1 >>> (31 - ((next - 1) & 31))
  if (low === high) {
    words[low] = (words[low] as number) | (head & tail)
    return
  }
  words[low] = (words[low] as number) | head
  for (let at = low + 1; at < high; at++) words[at] = -1
  words[high] = (words[high] as number) | tail
}

function touch(bits: Bits, from: number, to: number): void {
  if (from < bits.from) bits.from = from
  if (to > bits.to) bits.to = to
}

/** Adds all that is in `others`. */
export function unite(bits: Bits, others: Bits): void {
  const { words } = bits
  for (let at = others.from; at < others.to; at++) {
    words[at] = (words[at] as number) | (others.words[at] as number)
  }
  if (others.from < others.to) touch(bits, others.from, others.to)
}

/** Writes the intersection of the sets, at least one, into an empty set. */
export function intersection(sets: readonly Bits[], into: Bits): Bits {
  into.from = Math.max(...sets.map(({ from }) => from))
  into.to = Math.max(into.from, Math.min(...sets.map(({ to }) => to)))
  const [first, ...rest] = sets as readonly [Bits, ...Bits[]]
  into.words.set(first.words.subarray(into.from, into.to), into.from)
  for (const set of rest) meet(into, set)
  return into
}

/** Keeps only what is also in `others`. */
export function meet(bits: Bits, others: Bits): void {
  const { words, from, to } = bits
  for (let at = from; at < to; at++) {
    words[at] = (words[at] as number) & (others.words[at] as number)
  }
}

/** Removes what is in `others`. */
export function subtract(bits: Bits, others: Bits): void {
  const { words } = bits
  const to = Math.min(bits.to, others.to)
  for (let at = Math.max(bits.from, others.from); at < to; at++) {
    words[at] = (words[at] as number) & ~(others.words[at] as number)
  }
}

/** The first doc from `doc` on whose bit is set, or -1. */
export function nextBit(bits: Bits, doc: number): number {
  const { words, from, to } = bits
  const first = doc >>> 5
  let mask = -1 << (doc & 31)
  for (let at = Math.max(first, from); at < to; at++) {
    if (at > first) mask = -1
    const word = (words[at] as number) & mask
    if (word !== 0) return at * 32 + 31 - Math.clz32(word & -word)
  }
  return -1
}

/** A page of the docs in the set, which has at least `offset` + `limit` docs. */
export function pageIn(bits: Bits, offset: number, limit: number): Docs {
  const page = new Uint32Array(limit)
  takeShared(bits, bits, { skip: offset, into: page })
  return page
}

/**
 * Writes the docs in both sets, without the first `skip`, until `into` is full.
 *
 * @returns how many docs it passed, including the skipped ones: all in both sets, or up to the last one written
 */
export function takeShared(
  one: Bits,
  other: Bits,
  { skip, into }: { readonly skip: number; readonly into: Docs },
): number {
  const to = Math.min(one.to, other.to)
  const end = skip + into.length
  let passed = 0
  for (let at = Math.max(one.from, other.from); at < to && passed < end; at++) {
    const word = (one.words[at] as number) & (other.words[at] as number)
    if (word === 0) continue
    const whole = bitsIn(word)
    if (passed + whole > skip) writeDocs(word, 32 * at, { into, from: passed - skip })
    passed += whole
  }
  return Math.min(passed, end)
}

/** Writes the docs of a word from index `from` of `into` on; those at a negative index are skipped. */
function writeDocs(
  word: number,
  first: number,
  { into, from }: { readonly into: Docs; readonly from: number },
): void {
  let place = from
  for (let rest = word; rest !== 0 && place < into.length; rest &= rest - 1) {
    if (place >= 0) into[place] = first + 31 - Math.clz32(rest & -rest)
    place += 1
  }
}

/** Writes the docs in the set, ascending. Returns how many. */
export function docsIn({ words, from, to }: Bits, into: Docs): number {
  let count = 0
  for (let at = from; at < to; at++) {
    for (let word = words[at] as number; word !== 0; word &= word - 1) {
      into[count++] = at * 32 + 31 - Math.clz32(word & -word)
    }
  }
  return count
}

/** Likewise the docs that are not in the set, of `size` docs in all. */
export function docsOutside({ words }: Bits, size: number, into: Docs): number {
  let count = 0
  for (let at = 0; at < words.length; at++) {
    for (let word = ~(words[at] as number); word !== 0; word &= word - 1) {
      const doc = at * 32 + 31 - Math.clz32(word & -word)
      if (doc >= size) return count
      into[count++] = doc
    }
  }
  return count
}

/** How many bits are set. */
export function countOf({ words, from, to }: Bits): number {
  let count = 0
  for (let at = from; at < to; at++) {
    const word = words[at] as number
    if (word !== 0) count += bitsIn(word)
  }
  return count
}

/** How many docs are in both sets. */
export function countShared(one: Bits, other: Bits): number {
  const to = Math.min(one.to, other.to)
  let count = 0
  for (let at = Math.max(one.from, other.from); at < to; at++) {
    const word = (one.words[at] as number) & (other.words[at] as number)
    if (word !== 0) count += bitsIn(word)
  }
  return count
}

/** How many docs from `first` up to, not including, `next` are in the set. The range has at least one doc. */
export function countBetween({ words }: Bits, first: number, next: number): number {
  const low = first >>> 5
  const high = (next - 1) >>> 5
  const head = -1 << (first & 31)
  const tail = -1 >>> (31 - ((next - 1) & 31))
  if (low === high) return bitsIn((words[low] as number) & head & tail)
  let count = bitsIn((words[low] as number) & head) + bitsIn((words[high] as number) & tail)
  for (let at = low + 1; at < high; at++) count += bitsIn(words[at] as number)
  return count
}

/** Counts the set bits of a word pair by pair, which is faster than one by one. */
function bitsIn(whole: number): number {
  let word = whole - ((whole >>> 1) & 0x55555555)
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
