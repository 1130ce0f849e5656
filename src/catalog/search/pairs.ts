import type { Docs } from './docs.ts'

/**
 * The docs of pairs of values, as in an index over two fields. A pair is worked out when it is first asked for, and
 * stays the same object, so that its facets can be kept as well.
 */
export interface Pairs {
  /**
   * @param one a list that the index keeps, as is `other`
   * @param make lists the docs in both
   */
  docsIn(one: Docs, other: Docs, make: () => Docs): Docs
}

/** About what the facets of a pair take, counted in docs of four bytes. */
const facetsOfPair = 2_000
/** 4 MB, that is at most 500 pairs. The next one replaces all of them: few stores are asked for so many. */
const mostKept = 1_000_000

export function createPairs(most = mostKept): Pairs {
  let pairs = new Map<Docs, Map<Docs, Docs>>()
  let kept = 0
  return {
    docsIn(one, other, make) {
      const known = pairs.get(one)?.get(other)
      if (known !== undefined) return known
      const docs = make()
      const size = docs.length + facetsOfPair
      if (kept + size > most) {
        pairs = new Map()
        kept = 0
      }
      const ofOne = pairs.get(one) ?? new Map<Docs, Docs>()
      pairs.set(one, ofOne.set(other, docs))
      kept += size
      return docs
    },
  }
}
