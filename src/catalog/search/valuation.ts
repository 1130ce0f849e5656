import { eachOf, type Sliced } from '../../lib/slices.ts'
import type { Offer } from '../offer.ts'
import type { MoneyRange } from '../offer-base.ts'
import type { RateTable } from '../ports.ts'
import { inUsd, lowestCharge, type Pricing } from '../pricing.ts'
import { addTo, type Bits, countOf, emptyBits, has } from './bits.ts'
import type { Stock } from './stock.ts'

/** What the offers of a kind cost and are worth at the exchange rates of one moment, and which are sold. */
export interface Valuation {
  readonly sold: Bits
  /** The lowest price in USDC; NaN for an offer that is not sold. */
  readonly usdc: Float64Array
  /** The bounds of the face value in USD, or of the price if the face value has no rate; NaN without either. */
  readonly leastUsd: Float64Array
  readonly mostUsd: Float64Array
  readonly orders: Readonly<Record<'published' | 'low' | 'high' | 'price', Ranking>>
}

/** All offers in one order. */
class Ranking {
  readonly #positions: Uint32Array

  constructor(positions: Uint32Array) {
    this.#positions = positions
  }

  /** Those of a set from the `offset`-th on, at most `limit`. */
  pageIn(bits: Bits, offset: number, limit: number): number[] {
    const end = Math.min(countOf(bits), offset + limit)
    const page: number[] = []
    for (let rank = 0, found = 0; found < end; rank++) {
      const position = this.#positions[rank] as number
      if (!has(bits, position)) continue
      if (found >= offset) page.push(position)
      found += 1
    }
    return page
  }
}

export function* valuationOf({ offers }: Stock, pricing: Pricing): Sliced<Valuation> {
  const size = offers.length
  const rates = pricing.rates()
  const sold = emptyBits(size)
  const [usdc, listed] = [new Float64Array(size), new Float64Array(size)]
  const [leastUsd, mostUsd] = [new Float64Array(size), new Float64Array(size)]
  yield* eachOf(offers, (offer, position) => {
    const lowest = lowestCharge(offer, pricing)
    usdc[position] = lowest === undefined ? Number.NaN : Number(lowest) / 1e6
    if (lowest !== undefined) addTo(sold, position)
    listed[position] = lowest === undefined ? listedUsd(offer, rates) : (usdc[position] as number)
    const [least, most] = worthOf(offer, rates)
    leastUsd[position] = least
    mostUsd[position] = most
  })
  const published = yield* publishedOrder(offers, listed)
  return {
    sold,
    usdc,
    leastUsd,
    mostUsd,
    orders: {
      published: new Ranking(published),
      low: yield* byValue(published, leastUsd, 1),
      high: yield* byValue(published, leastUsd, -1),
      price: yield* byValue(published, usdc, 1),
    },
  }
}

/**
 * By brandName, then by price, then by offerId (docs/contributors/decisions/017). An offer that is not sold stands
 * where the supplier's price would put it; within a brand, one without a price in USD comes last.
 */
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
function* byValue(published: Uint32Array, values: Float64Array, sign: 1 | -1): Sliced<Ranking> {
  const ofValue = new Map<number, number[]>()
  yield* eachOf(published, (position) => {
    const value = values[position] as number
    const list = ofValue.get(value)
    if (list === undefined) ofValue.set(value, [position])
    else list.push(position)
  })
  const sorted = [...ofValue].sort(
    ([one], [other]) =>
      Number(Number.isNaN(one)) - Number(Number.isNaN(other)) || sign * (one - other),
  )
  const order = new Uint32Array(published.length)
  let filled = 0
  for (const [, positions] of sorted) {
    order.set(positions, filled)
    filled += positions.length
  }
  return new Ranking(order)
}

/** Compares without subtracting: the difference of two infinite prices would be NaN. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1
}

function listedUsd({ price }: Offer, rates: RateTable | undefined): number {
  const least = price.type === 'FIXED' ? price.fixed : price.min
  return inUsd(least, price, rates) ?? Number.POSITIVE_INFINITY
}

function worthOf({ faceValue, price }: Offer, rates: RateTable | undefined): [number, number] {
  const worth = boundsOf(faceValue ?? price, rates)
  return Number.isNaN(worth[0]) ? boundsOf(price, rates) : worth
}

function boundsOf(money: MoneyRange, rates: RateTable | undefined): [number, number] {
  const [min, max] = money.type === 'FIXED' ? [money.fixed, money.fixed] : [money.min, money.max]
  return [inUsd(min, money, rates) ?? Number.NaN, inUsd(max, money, rates) ?? Number.NaN]
}
