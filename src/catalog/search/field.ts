import { eachOf, type Sliced } from '../../lib/scheduling.ts'
import { fold } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'

export type ValueCount = readonly [value: string, offers: number]

/**
 * Case and accents do not count. An offer may have several values, but few combinations occur, so each offer has the
 * number of its combination.
 */
export class Field {
  readonly values: readonly string[]
  readonly #places: ReadonlyMap<string, number>
  readonly #combinations: Uint32Array
  readonly #valuesOf: readonly Uint32Array[]

  constructor(
    spelled: ReadonlyMap<string, string>,
    combinations: Uint32Array,
    keysOf: readonly (readonly string[])[],
  ) {
    const keys = [...spelled.keys()].sort()
    this.values = keys.map((key) => spelled.get(key) as string)
    this.#places = new Map(keys.map((key, place) => [key, place]))
    this.#combinations = combinations
    this.#valuesOf = keysOf.map((own) => {
      return Uint32Array.from(own, (key) => this.#places.get(key) as number)
    })
  }

  spelled(value: string): string | undefined {
    const place = this.#places.get(fold(value))
    return place === undefined ? undefined : this.values[place]
  }

  having(values: readonly string[]): Bits {
    const wanted = new Set(values.map((value) => this.#places.get(fold(value))))
    const isWanted = this.#valuesOf.map((places) => places.some((place) => wanted.has(place)))
    const combinations = this.#combinations
    if (!isWanted.includes(true)) return emptyBits(combinations.length)
    return bitsWhere(combinations.length, (at) => isWanted[combinations[at] as number] === true)
  }

  /** The values among these offers, those of most offers first; of equal ones the first by name. */
  countsIn(offers: Bits): ValueCount[] {
    const ofCombinations = new Uint32Array(this.#valuesOf.length)
    const combinations = this.#combinations
    forEachIn(offers, (position) => {
      const combination = combinations[position] as number
      ofCombinations[combination] = (ofCombinations[combination] as number) + 1
    })
    const counts = new Uint32Array(this.values.length)
    ofCombinations.forEach((count, combination) => {
      if (count === 0) return
      for (const place of this.#valuesOf[combination] as Uint32Array) {
        counts[place] = (counts[place] as number) + count
      }
    })
    return this.values
      .map((value, place) => [value, counts[place] as number] as const)
      .filter(([, count]) => count > 0)
      .sort(([, one], [, other]) => other - one)
  }
}

export function* buildField(
  offers: readonly Offer[],
  valuesOf: (offer: Offer) => readonly string[],
): Sliced<Field> {
  const spelled = new Map<string, string>()
  const numbers = new Map<string, number>()
  const keysOf: string[][] = []
  const combinations = new Uint32Array(offers.length)
  const keyOf = (value: string) => {
    const key = fold(value)
    if (!spelled.has(key)) spelled.set(key, value)
    return key
  }
  yield* eachOf(offers, (offer, position) => {
    const values = valuesOf(offer)
    const name = values.join('\n')
    let number = numbers.get(name)
    if (number === undefined) {
      number = keysOf.push([...new Set(values.map(keyOf))]) - 1
      numbers.set(name, number)
    }
    combinations[position] = number
  })
  return new Field(spelled, combinations, keysOf)
}

/** A set of offers by their positions, one bit each. */
export type Bits = Uint32Array

/** The positions of offers, ascending. */
export type Postings = Uint32Array

export function emptyBits(size: number): Bits {
  return new Uint32Array(Math.ceil(size / 32))
}

export function bitsWhere(size: number, test: (position: number) => boolean): Bits {
  const bits = emptyBits(size)
  for (let position = 0; position < size; position++) if (test(position)) addTo(bits, position)
  return bits
}

export function unionOf(size: number, lists: Iterable<Postings>): Bits {
  const bits = emptyBits(size)
  for (const postings of lists) {
    for (let at = 0; at < postings.length; at++) addTo(bits, postings[at] as number)
  }
  return bits
}

export function addTo(bits: Bits, position: number): void {
  bits[position >>> 5] = (bits[position >>> 5] as number) | (1 << (position & 31))
}

export function has(bits: Bits, position: number): boolean {
  return (((bits[position >>> 5] as number) >>> (position & 31)) & 1) === 1
}

export function unite(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) | (others[at] as number)
}

export function intersect(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) & (others[at] as number)
}

export function subtract(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) & ~(others[at] as number)
}

export function countOf(bits: Bits): number {
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    // Adds up neighbouring bits, then pairs, then fours, and the four bytes by one multiplication.
    let word = bits[at] as number
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

export function forEachIn(bits: Bits, visit: (position: number) => void): void {
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at] as number; word !== 0; word &= word - 1) {
      visit(at * 32 + 31 - Math.clz32(word & -word))
    }
  }
}
