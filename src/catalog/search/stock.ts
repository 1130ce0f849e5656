import { eachOf, type Sliced } from '../../lib/scheduling.ts'
import { fold } from '../../lib/text.ts'
import { countryNames } from '../countries.ts'
import { kindOf, type MoneyRange, type Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { inUsd, lowestCharge, type Pricing } from '../pricing.ts'
import {
  addTo,
  type Bits,
  buildField,
  countOf,
  emptyBits,
  type Field,
  has,
  type Postings,
} from './field.ts'
import type { AmountKind } from './filters.ts'
import { indexWordsOf, isTypoOf, nameFormsOf } from './words.ts'

/** All that exchange rates do not change. */
export interface Stock extends Readonly<Record<FieldName, Field>> {
  /** By brand name and then by id. The position of an offer in this list stands for it everywhere in the search. */
  readonly offers: readonly Offer[]
  readonly words: Lexicon
  readonly brandNames: Lexicon
  readonly brandWords: Lexicon
  readonly multiCountry: Bits
  /** NaN if unknown; Infinity if unlimited. */
  readonly dataGb: Float64Array
  readonly days: Float64Array
  readonly leastFace: Float64Array
  readonly mostFace: Float64Array
}

/** `brand` is the supplier's key; `currency` that of the face value; `duration` in days. */
export type FieldName =
  | 'brand'
  | 'brandName'
  | 'country'
  | 'covers'
  | 'region'
  | 'subType'
  | 'category'
  | 'duration'
  | 'amount'
  | 'currency'

const valuesOf: Readonly<Record<FieldName, (offer: Offer) => readonly string[]>> = {
  brand: ({ brand }: Offer) => [brand],
  brandName: ({ brandName }: Offer) => [brandName],
  country: ({ country }: Offer) => (country === undefined ? [] : [country]),
  covers: coveredBy,
  region: ({ regions }: Offer) => regions,
  subType: ({ subTypes }: Offer) => subTypes,
  category: (offer: Offer) => kindOf(offer).indexed(offer).categories ?? [],
  duration: (offer: Offer) => [kindOf(offer).indexed(offer).durationDays ?? []].flat().map(String),
  amount: ({ price }): AmountKind[] => [price.type === 'RANGE' ? 'open' : 'fixed'],
  currency: ({ faceValue, price }: Offer) => [(faceValue ?? price).currency],
}

export function* stockOf(unsorted: readonly Offer[]): Sliced<Stock> {
  const offers = yield* sorted(unsorted)
  return {
    offers,
    ...(yield* fieldsOf(offers)),
    ...(yield* numbersOf(offers)),
    words: yield* buildLexicon(offers, textsOf, indexWordsOf),
    brandNames: yield* buildLexicon(
      offers,
      ({ brand, brandName }) => [brand, brandName],
      nameFormsOf,
    ),
    brandWords: yield* buildLexicon(offers, ({ brandName }) => [brandName], indexWordsOf),
  }
}

function* fieldsOf(offers: readonly Offer[]): Sliced<Record<FieldName, Field>> {
  const built: [string, Field][] = []
  for (const [name, valuesIn] of Object.entries(valuesOf)) {
    built.push([name, yield* buildField(offers, valuesIn)])
  }
  return Object.fromEntries(built) as Record<FieldName, Field>
}

function* numbersOf(offers: readonly Offer[]) {
  const { length } = offers
  const multiCountry = emptyBits(length)
  const [dataGb, days] = [new Float64Array(length), new Float64Array(length)]
  const [leastFace, mostFace] = [new Float64Array(length), new Float64Array(length)]
  yield* eachOf(offers, (offer, position) => {
    const indexed = kindOf(offer).indexed(offer)
    if (indexed.isMultiCountry) addTo(multiCountry, position)
    dataGb[position] = indexed.dataGb ?? Number.NaN
    days[position] = indexed.durationDays ?? Number.NaN
    const face = offer.faceValue ?? offer.price
    const [least, most] = face.type === 'FIXED' ? [face.fixed, face.fixed] : [face.min, face.max]
    leastFace[position] = least / face.divisor
    mostFace[position] = most / face.divisor
  })
  return { multiCountry, dataGb, days, leastFace, mostFace }
}

export function coveredBy(offer: Offer): string[] {
  const own = offer.country === undefined ? [] : [offer.country]
  return [...new Set([...own, ...(kindOf(offer).indexed(offer).covers ?? [])])].sort()
}

function textsOf(offer: Offer): string[] {
  const { brand, brandName, shortNotes = '', subTypes, regions, country } = offer
  const places = country === undefined ? [] : countryNames(country)
  const own = kindOf(offer).indexed(offer).texts ?? []
  return [brand, brandName, shortNotes, ...subTypes, ...regions, ...own, ...places]
}

/** Sorts brand by brand, so that no sort takes long. */
function* sorted(offers: readonly Offer[]): Sliced<readonly Offer[]> {
  const ofName = Map.groupBy(offers, ({ brandName }) => brandName)
  const names = Array.from(ofName.keys(), (name) => `${fold(name)}\u0000${name}`).sort()
  const inOrder: Offer[] = []
  yield* eachOf(
    names,
    (name) => {
      const own = ofName.get(name.slice(name.indexOf('\u0000') + 1)) as Offer[]
      own.sort((one, other) => (one.id < other.id ? -1 : 1))
      for (const offer of own) inOrder.push(offer)
    },
    1,
  )
  return inOrder
}

class Lexicon {
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

/** Thousands of offers share a text, and each text is split once. */
function* buildLexicon(
  offers: readonly Offer[],
  textsOf: (offer: Offer) => readonly string[],
  split: (text: string) => readonly string[],
): Sliced<Lexicon> {
  const positions = new Map<string, number[]>()
  const ofTexts = new Map<string, readonly number[][]>()
  const listOf = (entry: string) => {
    const list = positions.get(entry) ?? []
    positions.set(entry, list)
    return list
  }
  yield* eachOf(offers, (offer, position) => {
    for (const text of textsOf(offer)) {
      const lists = ofTexts.get(text) ?? split(text).map(listOf)
      ofTexts.set(text, lists)
      for (const list of lists) if (list[list.length - 1] !== position) list.push(position)
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

export interface Valuation {
  readonly sold: Bits
  /** All but what the operator has hidden. */
  readonly listed: Bits
  /** The lowest price in USDC; NaN for an offer that is not sold. */
  readonly usdc: Float64Array
  /** The bounds of the face value in USD, or of the price if the face value has no rate; NaN without either. */
  readonly leastUsd: Float64Array
  readonly mostUsd: Float64Array
  readonly orders: Readonly<Record<'published' | 'low' | 'high' | 'price', Uint32Array>>
}

export function pageIn(order: Uint32Array, bits: Bits, offset: number, limit: number): number[] {
  const end = Math.min(countOf(bits), offset + limit)
  const page: number[] = []
  for (let rank = 0, found = 0; found < end; rank++) {
    const position = order[rank] as number
    if (!has(bits, position)) continue
    if (found >= offset) page.push(position)
    found += 1
  }
  return page
}

export function* valuationOf({ offers }: Stock, pricing: Pricing): Sliced<Valuation> {
  const size = offers.length
  const [rates, rules] = [pricing.rates(), pricing.rules()]
  const [sold, listed] = [emptyBits(size), emptyBits(size)]
  const [usdc, listedAt] = [new Float64Array(size), new Float64Array(size)]
  const [leastUsd, mostUsd] = [new Float64Array(size), new Float64Array(size)]
  yield* eachOf(offers, (offer, position) => {
    const lowest = Number(lowestCharge(offer, pricing) ?? Number.NaN) / 1e6
    const price = boundsOf(offer.price, rates)
    const face = boundsOf(offer.faceValue ?? offer.price, rates)
    const [least, most] = Number.isNaN(face[0]) ? price : face
    usdc[position] = lowest
    listedAt[position] = [lowest, price[0]].find((usd) => !Number.isNaN(usd)) ?? Infinity
    leastUsd[position] = least
    mostUsd[position] = most
    if (rules.hides(offer)) return
    addTo(listed, position)
    if (!Number.isNaN(lowest)) addTo(sold, position)
  })
  const published = yield* publishedOrder(offers, listedAt)
  const orders = {
    published,
    low: yield* byValue(published, leastUsd, 1),
    high: yield* byValue(published, leastUsd, -1),
    price: yield* byValue(published, usdc, 1),
  }
  return { sold, listed, usdc, leastUsd, mostUsd, orders }
}

/** By brandName, price, offerId. An offer that is not sold stands where the supplier's price would put it. */
function* publishedOrder(offers: readonly Offer[], usd: Float64Array): Sliced<Uint32Array> {
  const order = Uint32Array.from(offers.keys())
  const compare = (one: number, other: number) =>
    compareNumbers(usd[one] as number, usd[other] as number) || one - other
  const firstOfBrands: number[] = []
  yield* eachOf(offers, ({ brandName }, position) => {
    if (brandName !== offers[position - 1]?.brandName) firstOfBrands.push(position)
  })
  yield* eachOf(
    firstOfBrands,
    (first, brand) => {
      order.subarray(first, firstOfBrands[brand + 1]).sort(compare)
    },
    1,
  )
  return order
}

/** Equal ones as published, unknown ones (NaN) last. */
function* byValue(published: Uint32Array, values: Float64Array, sign: 1 | -1): Sliced<Uint32Array> {
  const ofValue = new Map<number, number[]>()
  yield* eachOf(published, (position) => {
    const value = values[position] as number
    const equal = ofValue.get(value)
    if (equal === undefined) ofValue.set(value, [position])
    else equal.push(position)
  })
  const sorted = [...ofValue].sort(
    ([one], [other]) =>
      Number(Number.isNaN(one)) - Number(Number.isNaN(other)) || sign * (one - other),
  )
  const order = new Uint32Array(published.length)
  let filled = 0
  yield* eachOf(sorted, ([, positions]) => {
    order.set(positions, filled)
    filled += positions.length
  })
  return order
}

/** Compares without subtracting: the difference of two infinite prices would be NaN. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function boundsOf(money: MoneyRange, rates: RateTable | undefined): [number, number] {
  const [min, max] = money.type === 'FIXED' ? [money.fixed, money.fixed] : [money.min, money.max]
  return [inUsd(min, money, rates) ?? Number.NaN, inUsd(max, money, rates) ?? Number.NaN]
}
