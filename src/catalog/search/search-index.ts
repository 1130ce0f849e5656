import { LRUCache } from 'lru-cache'
import type { Sliced } from '../../lib/scheduling.ts'
import { fold, foldedWords } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'
import type { Pricing } from '../pricing.ts'
import {
  type Bits,
  bitsWhere,
  countOf,
  emptyBits,
  forEachIn,
  intersect,
  type Postings,
  subtract,
  unionOf,
  unite,
  type ValueCount,
} from './field.ts'
import { type Filters, without } from './filters.ts'
import {
  type FieldName,
  pageIn,
  type Stock,
  stockOf,
  type Valuation,
  valuationOf,
} from './stock.ts'
import { phraseOf, soughtWordsOf } from './words.ts'

export interface Page {
  readonly limit: number
  readonly offset: number
}

/**
 * `match`: by the best match of the text, then as published: by brand name, price, id. `low`, `high`: by the least
 * face value in USD. `price`: by the lowest price. Equal ones as published, unknown ones last.
 */
export type Order = 'match' | 'low' | 'high' | 'price'

export interface Brand {
  readonly brand: string
  /** The name of its first offer, then other spellings. */
  readonly names: readonly string[]
  readonly countries: readonly string[]
  readonly offers: number
}

const maxBrands = 100
/** How many values the lists may have together that are kept for a catalog. */
const maxValues = 100_000
/** Callers ask for the same few countries and brands, so most sets are made only once for a catalog. */
const maxSets = 500
/** Money compared after a conversion may differ in its last digits. */
const tolerance = 1e-6

type Makers = {
  readonly [Name in keyof Filters]-?: (value: NonNullable<Filters[Name]>) => Bits
}

export class SearchIndex {
  readonly size: number
  readonly #size: number
  readonly #stock: Stock
  readonly #valuation: Valuation
  readonly #scope: Bits
  readonly #makers: Makers
  readonly #sets = new LRUCache<string, Bits>({ max: maxSets })
  readonly #lists = new LRUCache<string, readonly ValueCount[]>({
    maxSize: maxValues,
    sizeCalculation: ({ length }) => length + 1,
  })
  #brands: readonly Brand[] | undefined

  /** @param last an index of the same stock, whose brands are kept if it has the same offers */
  constructor(stock: Stock, valuation: Valuation, scope: Bits, last?: SearchIndex) {
    this.size = countOf(scope)
    this.#size = stock.offers.length
    this.#stock = stock
    this.#valuation = valuation
    this.#scope = scope
    this.#makers = this.#makersOf(stock, valuation)
    if (last?.size === this.size && last.#scope.every((bits, at) => bits === scope[at])) {
      this.#brands = last.#brands
    }
  }

  search(filters: Filters, { offset, limit }: Page, order: Order = 'match') {
    const { orders } = this.#valuation
    const matches = this.#matching(filters)
    const total = countOf(matches)
    const isByText = order === 'match' && filters.text !== undefined && total > 0
    const ranks = isByText ? this.#ranked(matches, filters.text) : [matches]
    const ranking = orders[order === 'match' ? 'published' : order]
    const positions: number[] = []
    let toSkip = offset
    for (const rank of ranks) {
      positions.push(...pageIn(ranking, rank, toSkip, limit - positions.length))
      if (positions.length === limit) break
      toSkip = Math.max(0, toSkip - countOf(rank))
    }
    return { total, offers: positions.map((position) => this.#offerAt(position)) }
  }

  count(filters: Filters): number {
    return countOf(this.#matching(filters))
  }

  /** For each facet the values found when all *other* filters apply, so that a caller can switch to another. */
  facets(filters: Filters) {
    const valuesOf = (field: FieldName, own: keyof Filters) =>
      this.values(field, without(filters, own))
    const brands = this.counts('brandName', without(filters, 'brand'))
    return {
      countries: valuesOf('country', 'country'),
      regions: valuesOf('region', 'regions'),
      brands: brands.slice(0, maxBrands).map(([name]) => name),
      subTypes: valuesOf('subType', 'subType'),
      brandTotal: brands.length,
    }
  }

  values(field: FieldName, filters: Filters = {}): readonly string[] {
    const have = new Set(this.counts(field, filters).map(([value]) => value))
    return this.#stock[field].values.filter((value) => have.has(value))
  }

  /** The most frequent first; of equal ones the first by name. */
  counts(field: FieldName, filters: Filters = {}): readonly ValueCount[] {
    const key = `${field} ${JSON.stringify(filters)}`
    const cached = this.#lists.get(key)
    if (cached !== undefined) return cached
    const counts = this.#stock[field].countsIn(this.#matching(filters))
    this.#lists.set(key, counts)
    return counts
  }

  spelled(field: FieldName, value: string): string | undefined {
    const spelled = this.#stock[field].spelled(value)
    return this.counts(field).some(([one]) => one === spelled) ? spelled : undefined
  }

  lowestUsdc(filters: Filters): number | undefined {
    const { orders, usdc } = this.#valuation
    const [position] = pageIn(orders.price, this.#matching(filters), 0, 1)
    return position === undefined ? undefined : usdc[position]
  }

  brands(): readonly Brand[] {
    this.#brands ??= this.#listBrands()
    return this.#brands
  }

  #listBrands(): Brand[] {
    const brands = new Map<string, { names: Set<string>; countries: Set<string>; offers: number }>()
    forEachIn(this.#scope, (position) => {
      const { brand, brandName, country } = this.#offerAt(position)
      const known = brands.get(brand) ?? { names: new Set(), countries: new Set(), offers: 0 }
      brands.set(brand, known)
      known.names.add(brandName)
      if (country !== undefined) known.countries.add(country)
      known.offers += 1
    })
    return Array.from(brands, ([brand, { names, countries, offers }]) => ({
      brand,
      names: [...names],
      countries: [...countries].sort(),
      offers,
    }))
  }

  #offerAt(position: number): Offer {
    return this.#stock.offers[position] as Offer
  }

  #matching(filters: Filters): Bits {
    const matches = this.#scope.slice()
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
  *#ranked(matches: Bits, text: string): Generator<Bits> {
    const phrase = phraseOf(text)
    const { brandNames } = this.#stock
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
      multiCountry: () => stock.multiCountry,
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
      every: (several) => this.#every(several.map((filters) => this.#matching(filters))),
      any: (several) => this.#some(several),
      none: (several) => {
        const others = this.#scope.slice()
        subtract(others, this.#some(several))
        return others
      },
    }
  }

  #near(text: string): Bits {
    const { words } = this.#stock
    return this.#withWords(soughtWordsOf(text), (word) => [
      ...words.beginningWith(word),
      ...words.typosOf(word),
    ])
  }

  #exact(text: string): Bits {
    const { words } = this.#stock
    return this.#withWords(soughtWordsOf(text), (word) => words.beginningWith(word))
  }

  /** "ama" finds "Amazon", "mazon" finds nothing. */
  #named(brand: string): Bits {
    const { brandWords, brandNames } = this.#stock
    const bits = this.#withWords(foldedWords(brand), (word) => brandWords.beginningWith(word))
    unite(bits, this.#union(brandNames.exactly(fold(brand))))
    return bits
  }

  #withWords(words: readonly string[], postingsOf: (word: string) => readonly Postings[]): Bits {
    if (words.length === 0) return emptyBits(this.#size)
    return this.#every(words.map((word) => this.#union(postingsOf(word))))
  }

  #every(sets: readonly Bits[]): Bits {
    const bits = this.#scope.slice()
    for (const set of sets) intersect(bits, set)
    return bits
  }

  #some(several: readonly Filters[]): Bits {
    const bits = emptyBits(this.#size)
    for (const filters of several) unite(bits, this.#matching(filters))
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

export interface KindIndex {
  readonly stock: Stock
  readonly listed: SearchIndex
  readonly sold: SearchIndex
}

/** @param last the index before it, of the same offers */
export function* buildIndex(
  offers: readonly Offer[],
  pricing: Pricing,
  last?: KindIndex,
): Sliced<KindIndex> {
  const stock = last?.stock ?? (yield* stockOf(offers))
  const valuation = yield* valuationOf(stock, pricing)
  const listed = new SearchIndex(stock, valuation, valuation.listed, last?.listed)
  const areAllSold = countOf(valuation.sold) === listed.size
  const sold = areAllSold ? listed : new SearchIndex(stock, valuation, valuation.sold, last?.sold)
  return { stock, listed, sold }
}
