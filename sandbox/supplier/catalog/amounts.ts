import { code } from 'currency-codes'
import { rateOf } from '../rates.ts'

const divisors = new Map<string, number>()

export function divisorOf(currency: string): number {
  const known = divisors.get(currency)
  if (known !== undefined) return known
  // The package's list does not have the Caribbean guilder yet.
  const divisor = 10 ** (code(currency)?.digits ?? 2)
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

export function convert(minor: number, from: string, to: string): number {
  if (from === to) return minor
  const dollars = minor / divisorOf(from) / rateOf(from)
  return Math.max(1, Math.ceil(dollars * rateOf(to) * divisorOf(to) - 1e-6))
}

const percentOf = (share: number) => Math.round(share * 1000) / 10

/**
 * The price and the cost of an offer with a fixed price in minor units. The cost is a few percent lower, and always in
 * US dollars, the wallet's currency.
 */
export function fixedPrice(minor: number, currency: string, discount: number, fx = 1) {
  const dollars = convert(minor, currency, 'USD')
  return {
    priceType: 'FIXED' as const,
    price: {
      ...{ currency, currencyDivisor: divisorOf(currency), fee: 0, fixed: minor, fx },
      ...{ margin: 5, suggestedFixed: Math.ceil(minor * 1.05), suggestedFx: fx },
    },
    cost: {
      ...{ currency: 'USD', currencyDivisor: 100, discount: percentOf(discount), fee: 0 },
      ...{ feePct: 0, fixed: Math.max(1, Math.floor(dollars * (1 - discount))), fx },
    },
  }
}

/** The same of an offer whose recipient gets `face` minor units of `currency`, sold in `sale` with a markup. */
export function faceAmounts(
  face: number,
  currency: string,
  { sale, markup, discount }: { sale: string; markup: number; discount: number },
) {
  const price = convert(Math.ceil(face * markup), currency, sale)
  const divisor = divisorOf(currency)
  const fx = Number((face / divisor / (price / divisorOf(sale))).toPrecision(8))
  const send = { currency, currencyDivisor: divisor, fixed: face, fx }
  return { ...fixedPrice(price, sale, discount, fx), send }
}

/** The same of an offer with an open value, priced from `min` to `max` US cents. */
export function openAmounts(
  currency: string,
  { min, max, ...price }: { min: number; max: number; increment: number; margin: number },
  { discount, markup }: { discount: number; markup: number },
) {
  const divisor = divisorOf(currency)
  const fx = Number((convert(100_000, 'USD', currency) / divisor / (1000 * markup)).toPrecision(8))
  const dollars = { currency: 'USD', currencyDivisor: 100, fee: 0, fx }
  const toFace = (minor: number) => Math.floor((minor / 100) * fx * divisor)
  const lower = (minor: number) => Math.floor(minor * (1 - discount))
  const rate = { discount: percentOf(discount), feePct: 0 }
  return {
    priceType: 'RANGE' as const,
    price: { ...dollars, ...price, min, max, suggestedFx: fx },
    cost: { ...dollars, ...rate, min: lower(min), max: lower(max) },
    send: { currency, currencyDivisor: divisor, fx, min: toFace(min), max: toFace(max) },
  }
}
