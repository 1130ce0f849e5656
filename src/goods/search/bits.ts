import type { Docs } from './docs.ts'

/** One bit for each doc: lists that overlap are united, and met, 32 docs at a time. */
export type Bits = Uint32Array

export function bitsOf(lists: readonly Docs[], size: number): Bits {
  const bits = new Uint32Array((size + 31) >>> 5)
  for (const list of lists) {
    for (let at = 0; at < list.length; at++) {
      const doc = list[at] ?? 0
      bits[doc >>> 5] = (bits[doc >>> 5] ?? 0) | (1 << (doc & 31))
    }
  }
  return bits
}

export function hasBit(bits: Bits, doc: number): boolean {
  return (((bits[doc >>> 5] ?? 0) >>> (doc & 31)) & 1) === 1
}

/** Keeps in `bits` what is in `others` too. */
export function meet(bits: Bits, others: Bits): Bits {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] ?? 0) & (others[at] ?? 0)
  return bits
}

/** The docs whose bit is set, ascending. */
export function docsIn(bits: Bits): Docs {
  const docs = new Uint32Array(countOf(bits))
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at] ?? 0; word !== 0; word &= word - 1) {
      docs[count++] = at * 32 + 31 - Math.clz32(word & -word)
    }
  }
  return docs
}

/** Adds the set bits of each word pair by pair, which is faster than one by one. */
function countOf(bits: Bits): number {
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    let word = bits[at] ?? 0
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}
