import { eachOf, type Sliced } from '../../lib/slices.ts'
import { fold } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'
import { addTo, type Bits, emptyBits, forEachIn } from './bits.ts'

/** A value of a field, and how many offers have it. */
export type ValueCount = readonly [value: string, offers: number]

/**
 * The values of one field, such as the countries, and which offers have them. Case and accents do not count. An offer
 * may have several values, but few combinations occur, so each offer has the number of its combination.
 */
export class Field {
  /** As they are first spelled, sorted by their folded forms. */
  readonly values: readonly string[]
  readonly #places: ReadonlyMap<string, number>
  /** The combination of each offer. */
  readonly #combinations: Uint32Array
  /** The values of each combination, by their places in `values`. */
  readonly #valuesOf: readonly Uint32Array[]

  /** @param spelled the values by their folded forms */
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

  /** A value as the catalog writes it; undefined if no offer has it. */
  spelled(value: string): string | undefined {
    const place = this.#places.get(fold(value))
    return place === undefined ? undefined : this.values[place]
  }

  /** The offers that have at least one of these values. */
  having(values: readonly string[]): Bits {
    const wanted = new Set(values.map((value) => this.#places.get(fold(value))))
    const isWanted = this.#valuesOf.map((places) => places.some((place) => wanted.has(place)))
    const bits = emptyBits(this.#combinations.length)
    if (!isWanted.includes(true)) return bits
    const combinations = this.#combinations
    for (let position = 0; position < combinations.length; position++) {
      if (isWanted[combinations[position] as number]) addTo(bits, position)
    }
    return bits
  }

  /** The values among these offers, those of most offers first; of equal ones the first by name. */
  countsIn(offers: Bits): ValueCount[] {
    const counts = this.#countsIn(offers)
    const places: number[] = []
    for (let place = 0; place < counts.length; place++) if (counts[place]) places.push(place)
    return places
      .sort((one, other) => (counts[other] as number) - (counts[one] as number) || one - other)
      .map((place) => [this.values[place] as string, counts[place] as number])
  }

  /** The offers in groups that have exactly the same values, in the order in which the groups begin. */
  groupsOf(positions: Iterable<number>): Map<readonly string[], number[]> {
    const groups = new Map<number, number[]>()
    for (const position of positions) {
      const combination = this.#combinations[position] as number
      const group = groups.get(combination)
      if (group === undefined) groups.set(combination, [position])
      else group.push(position)
    }
    return new Map(
      Array.from(groups, ([combination, group]) => {
        const places = [...(this.#valuesOf[combination] as Uint32Array)]
        return [places.map((place) => this.values[place] as string), group]
      }),
    )
  }

  #countsIn(offers: Bits): Uint32Array {
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
    return counts
  }
}

export function* buildField<O extends Offer>(
  offers: readonly O[],
  valuesOf: (offer: O) => readonly string[],
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
