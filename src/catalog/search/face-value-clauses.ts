import { addFirst, type Bits } from './bits.ts'
import type { Clause, Filters } from './filters.ts'
import type { SearchIndex } from './search-index.ts'

/** Money compared after a conversion may differ in its last digits. */
const tolerance = 1e-6

/** The clauses for the bounds of the face value. */
export function faceValueClauses(
  { faceUsd: { min, max }, byFaceUsd, scratch }: SearchIndex,
  { minUsd, maxUsd }: Pick<Filters, 'minUsd' | 'maxUsd'>,
): Clause[] {
  const clauses: Clause[] = []
  const room = scratch.bits
  if (minUsd !== undefined) {
    const bound = {
      order: byFaceUsd.most,
      values: max,
      sign: -1,
      most: tolerance - minUsd,
    } as const
    clauses.push(firstClause('minUsd', bound, room))
  }
  if (maxUsd !== undefined) {
    const bound = { order: byFaceUsd.low, values: min, sign: 1, most: maxUsd + tolerance } as const
    clauses.push(firstClause('maxUsd', bound, room))
  }
  return clauses
}

/** The docs whose value, times `sign`, is at most `most`. They come before all others in `order`. */
export interface Bound {
  readonly order: Uint32Array
  readonly values: Float64Array
  readonly sign: 1 | -1
  readonly most: number
}

export function firstClause(own: keyof Filters, bound: Bound, room: () => Bits): Clause {
  const { order, values, sign } = bound
  const first = howManyFirst(bound)
  let made: Bits | undefined
  return {
    own,
    most: first,
    set() {
      if (made === undefined) {
        made = room()
        addFirst(made, order, first)
      }
      return made
    },
    keep(docs, count, into) {
      let kept = 0
      for (let at = 0; at < count; at++) {
        const doc = docs[at] as number
        if (sign * (values[doc] as number) <= bound.most) into[kept++] = doc
      }
      return kept
    },
  }
}

function howManyFirst({ order, values, sign, most }: Bound): number {
  let low = 0
  let high = order.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sign * (values[order[middle] as number] as number) <= most) low = middle + 1
    else high = middle
  }
  return low
}
