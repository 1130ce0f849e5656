import { fold } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { inUsd } from '../pricing.ts'
import { growing, growingFloats } from './growing.ts'

/** Collects what decides the published order, offer by offer. */
export interface PublishedOrder {
  /** @param asked its lowest price in atomic USDC; undefined if it is not sold */
  add(offer: Offer, asked?: bigint): void
  readonly ids: readonly string[]
  /** The rows in the published order. Of two offers with the same id, only the later one. */
  rows(): Uint32Array
}

/**
 * By brandName, then by price, then by offerId (docs/contributors/decisions/017). An offer that is not sold stands
 * where the supplier's price would put it; within a brand, one without a price in USD comes last.
 */
export function publishedOrder(rates: RateTable | undefined): PublishedOrder {
  const names = new Map<string, number>()
  const nameOf = growing()
  const usd = growingFloats()
  const ids: string[] = []
  const latest = new Map<string, number>()
  return {
    ids,
    add({ brandName, price, id }, asked) {
      const name = names.get(brandName) ?? names.size
      names.set(brandName, name)
      nameOf.push(name)
      const least = price.type === 'FIXED' ? price.fixed : price.min
      const own = inUsd(least, price, rates) ?? Number.POSITIVE_INFINITY
      usd.push(asked === undefined ? own : Number(asked) / 1e6)
      latest.set(id, ids.push(id) - 1)
    },
    rows() {
      // Names are sorted once, so that sorting the rows compares only the ranks of their names.
      const ranks = ranksOf([...names.keys()])
      const compare = (one: number, other: number) =>
        (ranks[nameOf.at(one)] as number) - (ranks[nameOf.at(other)] as number) ||
        compareNumbers(usd.at(one), usd.at(other)) ||
        ((ids[one] as string) < (ids[other] as string) ? -1 : 1)
      return Uint32Array.from(latest.values()).sort(compare)
    },
  }
}

function ranksOf(names: readonly string[]): Uint32Array {
  const keyed = names.map((name, at) => ({ at, key: fold(name), name }))
  keyed.sort((one, other) => compareTexts(one.key, other.key) || compareTexts(one.name, other.name))
  const ranks = new Uint32Array(names.length)
  for (const [rank, { at }] of keyed.entries()) ranks[at] = rank
  return ranks
}

function compareTexts(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1
}

/** Compares without subtracting: the difference of two infinite prices would be NaN. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1
}
