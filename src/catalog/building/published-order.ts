import { fold } from '../../lib/text.ts'
import type { Offer } from '../offer.ts'
import type { RateTable } from '../ports.ts'
import { inUsd } from '../pricing.ts'
import { growing, growingFloats } from './growing.ts'

/** What decides the published order, offer by offer as they come. */
export interface PublishedOrder {
  /** @param asked the least that it costs, in atomic USDC, where it is sold */
  add(offer: Offer, asked?: bigint): void
  readonly ids: readonly string[]
  /** The rows that count, in the published order. Of two offers with one id the later one counts. */
  rows(): Uint32Array
}

/**
 * By brandName, then by what is asked, then by offerId (docs/contributors/decisions/017). What is not sold stands
 * where the supplier's price would put it, and what has no price in USD comes last.
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
      // Names are put in order once, and rows then by the rank of their name, a number.
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

/** Two offers without a price in USD are equal here; their difference would be no number. */
function compareNumbers(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1
}
