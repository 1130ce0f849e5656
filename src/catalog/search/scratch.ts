import { type Bits, clear, createBits } from './bits.ts'
import type { Docs } from './docs.ts'

/**
 * Reused working memory. A search is synchronous, so the next one can use the same memory; allocating and clearing it
 * each time would cost more than most searches do.
 */
export interface Scratch {
  /** Begins a search: takes back everything that the last one got. */
  begin(): void
  /** An empty set of docs, valid until the next search begins. */
  bits(): Bits
  /** Likewise for brands. */
  brandBits(): Bits
  /** An array with room for all docs and arbitrary content. */
  docs(): Docs
}

export function createScratch(size: number, brands: number): Scratch {
  const bits = lender(() => createBits(size), clear)
  const brandBits = lender(() => createBits(brands), clear)
  const docs = lender(
    () => new Uint32Array(size),
    () => {},
  )
  return {
    begin() {
      bits.takeBack()
      brandBits.takeBack()
      docs.takeBack()
    },
    bits: bits.lend,
    brandBits: brandBits.lend,
    docs: docs.lend,
  }
}

function lender<T>(make: () => T, clean: (thing: T) => void) {
  const things: T[] = []
  let lent = 0
  return {
    takeBack() {
      for (let at = 0; at < lent; at++) clean(things[at] as T)
      lent = 0
    },
    lend(): T {
      const thing = things[lent] ?? make()
      things[lent] = thing
      lent += 1
      return thing
    },
  }
}
