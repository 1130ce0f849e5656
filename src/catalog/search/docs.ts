/**
 * Offers of one kind, by their position in the published order: ascending, none twice. So every list of them is
 * already sorted for the answer.
 */
export type Docs = Uint32Array

/** The docs in both lists. The time grows with the shorter list. */
export function intersect(one: Docs, other: Docs): Docs {
  const [few, many] = one.length <= other.length ? [one, other] : [other, one]
  const kept = new Uint32Array(few.length)
  return kept.subarray(0, keepListed(few, few.length, many, kept))
}

/**
 * Copies those of the first `count` docs that are also in the list.
 *
 * @param into may be `docs` itself
 * @returns how many were copied
 */
export function keepListed(docs: Docs, count: number, list: Docs, into: Docs): number {
  let kept = 0
  let at = 0
  for (let each = 0; each < count && at < list.length; each++) {
    const doc = docs[each] as number
    at = firstNotBelow(list, doc, at)
    if (list[at] === doc) into[kept++] = doc
  }
  return kept
}

/** The index of the first doc that is at least `doc`. Searches from `from` on, in growing strides. */
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
