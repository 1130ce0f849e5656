import { code } from 'currency-codes'
import type { Cost, Price } from '../models.ts'
import { rateOf } from '../rates.ts'

const divisors = new Map<string, number>()

/** Minor units in one major unit by ISO 4217. */
export function divisorOf(currency: string): number {
  const known = divisors.get(currency)
  if (known !== undefined) return known
  // The package's list does not have the Caribbean guilder yet.
  const digits = code(currency)?.digits ?? 2
  const divisor = 10 ** digits
  divisors.set(currency, divisor)
  return divisor
}

/**
 * A round amount (1, 2 or 5 times a power of ten) of `currency` that is worth about one dollar, in major units: the
 * step of the values of gift cards and topups in that currency.
 */
export function roundUnit(currency: string): number {
  const rate = rateOf(currency) * 1.35
  const power = 10 ** Math.floor(Math.log10(rate))
  const lead = rate / power
  if (lead >= 5.5) return 5 * power
  return lead >= 2.5 ? 2 * power : power
}

/** An amount in another currency, both in minor units, rounded up. */
export function convert(minor: number, from: string, to: string): number {
  if (from === to) return minor
  const dollars = minor / divisorOf(from) / rateOf(from)
  return Math.max(1, Math.ceil(dollars * rateOf(to) * divisorOf(to) - 1e-6))
}

/** The cost that the store is charged: a few percent below the price, always in US dollars, the wallet's currency. */
export function costOf(priceMinor: number, currency: string, discount: number): number {
  return Math.max(1, Math.floor(convert(priceMinor, currency, 'USD') * (1 - discount)))
}

export function fixedPrice(minor: number, currency: string, fx: number): Price {
  const suggested = { suggestedFixed: Math.ceil(minor * 1.05), suggestedFx: fx }
  return {
    currency,
    currencyDivisor: divisorOf(currency),
    fee: 0,
    fixed: minor,
    fx,
    margin: 5,
    ...suggested,
  }
}

export function fixedCost(minor: number, discount: number, fx: number): Cost {
  const rate = Math.round(discount * 1000) / 10
  return {
    currency: 'USD',
    currencyDivisor: 100,
    discount: rate,
    fee: 0,
    feePct: 0,
    fixed: minor,
    fx,
  }
}
