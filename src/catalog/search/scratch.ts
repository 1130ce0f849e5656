import { type Bits, clear, createBits } from './bits.ts'
import type { Docs } from './docs.ts'

/**
 * Room to work in. A search never waits, so the next one may have the same room; making and clearing
 * it anew would cost more than most searches do.
 */
export interface Scratch {
  /** Takes back all that was lent, for the next search. */
  begin(): void
  /** No docs, until the next search begins. */
  bits(): Bits
  /** Likewise, over brands. */
  brandBits(): Bits
  /** Room for all docs, with anything in it. */
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
