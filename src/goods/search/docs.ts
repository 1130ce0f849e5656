import { bitsOf, docsIn } from './bits.ts'

/**
 * Offers of one kind, named by their place in the published order: ascending, none twice. Because
 * the place is the order, any list of them is already sorted for the answer.
 */
export type Docs = Uint32Array

/** The docs in both lists. Its time grows with the shorter one. */
export function intersect(one: Docs, other: Docs): Docs {
  const [few, many] = one.length <= other.length ? [one, other] : [other, one]
  const kept = new Uint32Array(few.length)
  let count = 0
  let at = 0
  for (const doc of few) {
    at = firstNotBelow(many, doc, at)
    if (at === many.length) break
    if (many[at] === doc) kept[count++] = doc
  }
  return kept.subarray(0, count)
}

/** The docs in any of the lists, out of `size`. A single list is given back as it is. */
export function unite(lists: readonly Docs[], size: number): Docs {
  const [only] = lists
  if (only === undefined) return new Uint32Array(0)
  return lists.length === 1 ? only : docsIn(bitsOf(lists, size))
}

/** Where the first doc that is at least `doc` stands, looking from `from` on in growing strides. */
function firstNotBelow(docs: Docs, doc: number, from: number): number {
  let low = from
  let stride = 1
  while (low + stride < docs.length && (docs[low + stride] ?? 0) < doc) {
    low += stride
    stride *= 2
  }
  let high = Math.min(low + stride, docs.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((docs[middle] ?? 0) < doc) low = middle + 1
    else high = middle
  }
  return low
}
