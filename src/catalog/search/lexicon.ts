import { eachOf, type Sliced } from '../../lib/slices.ts'
import type { Offer } from '../offer.ts'
import type { Postings } from './bits.ts'
import { isTypoOf } from './words.ts'

/** Words or names, sorted, so that those with the same beginning are neighbours, and the offers that have each. */
export class Lexicon {
  readonly #entries: readonly string[]
  readonly #postings: readonly Postings[]

  constructor(entries: readonly string[], postings: readonly Postings[]) {
    this.#entries = entries
    this.#postings = postings
  }

  exactly(entry: string): Postings[] {
    const at = this.#firstFrom(entry)
    return this.#entries[at] === entry ? [this.#postings[at] as Postings] : []
  }

  beginningWith(start: string): Postings[] {
    const first = this.#firstFrom(start)
    let end = first
    while (this.#entries[end]?.startsWith(start)) end++
    return this.#postings.slice(first, end)
  }

  /** Those with one letter added, left out, changed, or swapped with its neighbour. */
  typosOf(word: string): Postings[] {
    return this.#postings.filter((_, at) => isTypoOf(word, this.#entries[at] as string))
  }

  #firstFrom(start: string): number {
    let low = 0
    for (let high = this.#entries.length; low < high; ) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle] as string) < start) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function* buildLexicon<O extends Offer>(
  offers: readonly O[],
  entriesOf: (offer: O) => Iterable<string>,
): Sliced<Lexicon> {
  const positions = new Map<string, number[]>()
  yield* eachOf(offers, (offer, position) => {
    for (const entry of entriesOf(offer)) {
      const list = positions.get(entry)
      if (list === undefined) positions.set(entry, [position])
      else if (list[list.length - 1] !== position) list.push(position)
    }
  })
  const entries = [...positions.keys()].sort()
  const postings: Postings[] = []
  yield* eachOf(entries, (entry) => {
    postings.push(new Uint32Array(positions.get(entry) as number[]))
    positions.delete(entry)
  })
  return new Lexicon(entries, postings)
}
