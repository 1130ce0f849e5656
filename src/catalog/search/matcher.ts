import { LRUCache } from 'lru-cache'
import { fold, wordsOf } from '../../lib/text.ts'
import {
  type Bits,
  bitsWhere,
  emptyBits,
  fullBits,
  intersect,
  type Postings,
  subtract,
  unionOf,
  unite,
} from './bits.ts'
import type { Filters } from './filters.ts'
import type { Stock } from './stock.ts'
import type { Valuation } from './valuation.ts'
import { phraseOf, soughtWordsOf } from './words.ts'

/** Callers ask for the same few countries and brands, so most sets are made only once for a catalog. */
const maxSets = 500
/** Money compared after a conversion may differ in its last digits. */
const tolerance = 1e-6

/** Makes the set of the offers that meet one filter. */
type Makers = {
  readonly [Name in keyof Filters]-?: (value: NonNullable<Filters[Name]>) => Bits
}

/** Finds the offers of one kind that meet filters. */
export class Matcher {
  readonly stock: Stock
  readonly valuation: Valuation
  readonly #size: number
  readonly #makers: Makers
  readonly #sets = new LRUCache<string, Bits>({ max: maxSets })

  constructor(stock: Stock, valuation: Valuation) {
    this.stock = stock
    this.valuation = valuation
    this.#size = stock.offers.length
    this.#makers = this.#makersOf(stock, valuation)
  }

  /** The offers in `scope` that meet all filters. */
  matching(filters: Filters, scope: Bits): Bits {
    const matches = scope.slice()
    for (const name of Object.keys(filters) as (keyof Filters)[]) {
      const value = filters[name]
      if (value === undefined) continue
      const make = this.#makers[name] as (value: unknown) => Bits
      intersect(
        matches,
        this.#set(`${name} ${JSON.stringify(value)}`, () => make(value)),
      )
    }
    return matches
  }

  /** The matches by rank: the text is the name, begins it, has its words in the offer; then the same with a typo. */
  *ranked(matches: Bits, text: string): Generator<Bits> {
    const phrase = phraseOf(text)
    const { brandNames } = this.stock
    const ranks = [
      () => this.#union(brandNames.exactly(phrase)),
      () => this.#union(brandNames.beginningWith(phrase)),
      () => this.#exact(text),
      () => this.#union(brandNames.typosOf(phrase)),
    ]
    const left = matches.slice()
    for (const [rank, make] of ranks.entries()) {
      const ranked = left.slice()
      intersect(ranked, this.#set(`rank ${rank} ${text}`, make))
      subtract(left, ranked)
      yield ranked
    }
    yield left
  }

  #makersOf(stock: Stock, { usdc, leastUsd, mostUsd }: Valuation): Makers {
    const not = (set: Bits) => {
      const others = fullBits(this.#size)
      subtract(others, set)
      return others
    }
    const covering = (code: string) =>
      this.#set(`covering ${code}`, () => stock.covers.having([code]))
    return {
      brand: (brand) => this.#named(brand),
      brandKeys: (keys) => stock.brand.having(keys),
      text: (text) => this.#near(text),
      exactText: (text) => this.#exact(text),
      country: (country) => stock.country.having([country]),
      countries: (countries) => stock.country.having(countries),
      subType: (subType) => stock.subType.having([subType]),
      category: (category) => stock.category.having([category]),
      regions: (regions) => stock.region.having(regions),
      multiCountry: (isWanted) => (isWanted ? stock.multiCountry : fullBits(this.#size)),
      covers: (codes) => this.#every(codes.map(covering)),
      durationDays: (days) => stock.duration.having([String(days)]),
      minDays: (days) => this.#atLeast(stock.days, days),
      maxDays: (days) => this.#atMost(stock.days, days),
      minDataGb: (gigabytes) => this.#atLeast(stock.dataGb, gigabytes),
      maxDataGb: (gigabytes) => this.#atMost(stock.dataGb, gigabytes),
      amount: (amount) => stock.amount.having([amount]),
      minUsd: (usd) => this.#atLeast(mostUsd, usd),
      maxUsd: (usd) => this.#atMost(leastUsd, usd),
      currency: (currency) => stock.currency.having([currency]),
      faceValue: (value) =>
        bitsWhere(
          this.#size,
          (at) =>
            value >= (stock.leastFace[at] as number) && value <= (stock.mostFace[at] as number),
        ),
      minUsdc: (least) => this.#atLeast(usdc, least),
      maxUsdc: (most) => this.#atMost(usdc, most),
      every: (several) =>
        this.#every(several.map((filters) => this.matching(filters, fullBits(this.#size)))),
      any: (several) => this.#some(several),
      none: (several) => not(this.#some(several)),
    }
  }

  #near(text: string): Bits {
    const { words } = this.stock
    return this.#withWords(soughtWordsOf(text), (word) => [
      ...words.beginningWith(word),
      ...words.typosOf(word),
    ])
  }

  #exact(text: string): Bits {
    const { words } = this.stock
    return this.#withWords(soughtWordsOf(text), (word) => words.beginningWith(word))
  }

  /** "ama" finds "Amazon", "mazon" finds nothing. */
  #named(brand: string): Bits {
    const { brandWords, brandNames } = this.stock
    const bits = this.#withWords(wordsOf(brand), (word) => brandWords.beginningWith(word))
    unite(bits, this.#union(brandNames.exactly(fold(brand))))
    return bits
  }

  /** The offers that have every word; none if there is no word. */
  #withWords(words: readonly string[], postingsOf: (word: string) => readonly Postings[]): Bits {
    if (words.length === 0) return emptyBits(this.#size)
    return this.#every(words.map((word) => this.#union(postingsOf(word))))
  }

  #every(sets: readonly Bits[]): Bits {
    const bits = fullBits(this.#size)
    for (const set of sets) intersect(bits, set)
    return bits
  }

  #some(several: readonly Filters[]): Bits {
    const bits = emptyBits(this.#size)
    for (const filters of several) unite(bits, this.matching(filters, fullBits(this.#size)))
    return bits
  }

  #atLeast(values: Float64Array, least: number): Bits {
    return bitsWhere(this.#size, (at) => (values[at] as number) >= least - tolerance)
  }

  #atMost(values: Float64Array, most: number): Bits {
    return bitsWhere(this.#size, (at) => (values[at] as number) <= most + tolerance)
  }

  #union(lists: Iterable<Postings>): Bits {
    return unionOf(this.#size, lists)
  }

  #set(key: string, make: () => Bits): Bits {
    const known = this.#sets.get(key)
    if (known !== undefined) return known
    const set = make()
    this.#sets.set(key, set)
    return set
  }
}
