// Apart from the prices of offers because the wallet's script of the page carries it.
import { type Cents, cents } from '../lib/money.ts'
import type { Margin } from './selling-rules.ts'

/** What decides the price of an open value. */
export interface OpenPrice {
  readonly min: Cents
  readonly max: Cents
  /** What those two cost at least, with fees and margin; present if that exceeds the value with margin. */
  readonly floor?: { readonly lowest: Cents; readonly highest: Cents }
  readonly margin: Margin
}

/** What a value costs: the value with the margin, or what the supplier charges for it, whichever is more. */
export function priceAt(value: Cents, { min, max, floor, margin }: OpenPrice): Cents {
  const byPrice = withMargin(value, margin)
  if (floor === undefined) return byPrice
  if (max === min) return cents(Math.max(byPrice, floor.highest))
  const rise = BigInt(floor.highest - floor.lowest) * BigInt(value - min)
  const byCost = floor.lowest + Number(ceilDivide(rise, BigInt(max - min)))
  return cents(Math.max(byPrice, byCost))
}

export function withMargin(minor: number, { bps, cents: more }: Margin): Cents {
  return plus(withMarkup(minor, bps), more)
}

/** Adds the markup to an amount in any minor unit and rounds up, in integers throughout. */
export function withMarkup(minor: number, markupBps: number): Cents {
  const raised = BigInt(minor) * BigInt(10_000 + markupBps)
  return cents(Number(ceilDivide(raised, 10_000n)))
}

export function plus(amount: number, more: number): Cents {
  return cents(Math.max(0, amount + more))
}

export function ceilDivide(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}
