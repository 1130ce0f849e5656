import type { LandedCost, MoneyRange } from '../../catalog/offer-base.ts'
import { type Raw, recordOf } from './raw.ts'
import type { RejectionReason } from './rejection-reason.ts'

/** Far above anything on sale, and far below where cents of a dollar would stop being exact. */
const maxMinorUnits = 1e10

/** The supplier's suggested selling price of an offer (`price`), or why the offer is rejected. */
export function priceOf(raw: Raw): MoneyRange | RejectionReason {
  return typeof raw['price'] === 'number'
    ? plainPrice(raw['price'], recordOf(raw['cost']))
    : moneyOf(raw['price'], raw['priceType'])
}

/**
 * What the supplier charges the store: the cost, plus the percentage of it and the amount that it names as
 * fees. An offer whose cost cannot be read is rejected, because it might be sold at a loss.
 */
export function costOf(raw: Raw, price: MoneyRange): LandedCost | RejectionReason {
  const cost = moneyOf(raw['cost'], price.type)
  const { fee = 0, feePct = 0 } = recordOf(raw['cost']) ?? {}
  if (typeof cost === 'string' || !isFee(fee) || !isFee(feePct)) return 'unreadable_cost'
  const landed = (minor: number) => Math.ceil(minor + fee + (minor * feePct) / 100 - rounding)
  const [min, max] = cost.type === 'FIXED' ? [cost.fixed, cost.fixed] : [cost.min, cost.max]
  return { currency: cost.currency, divisor: cost.divisor, min: landed(min), max: landed(max) }
}

/** So that a floating-point sum such as 110.00000000000001 is not rounded up to 111. */
const rounding = 1e-6

function isFee(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= maxMinorUnits
}

/** What the card or phone line receives; undefined if the supplier says nothing usable about it. */
export function faceValueOf(raw: Raw): MoneyRange | undefined {
  const money = moneyOf(raw['send'], raw['priceType'])
  return typeof money === 'string' ? undefined : money
}

function moneyOf(value: unknown, priceType: unknown): MoneyRange | RejectionReason {
  const side = recordOf(value)
  if (side === undefined) return 'no_price'
  const { currency, currencyDivisor: divisor } = side
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return 'bad_currency'
  if (!isDivisor(divisor)) return 'bad_divisor'
  if (priceType === 'FIXED') return fixedMoney(side, currency, divisor)
  if (priceType === 'RANGE') return openMoney(side, currency, divisor)
  return 'unknown_price_type'
}

function fixedMoney(side: Raw, currency: string, divisor: number): MoneyRange | RejectionReason {
  const fixed = side['fixed']
  if (fixed === undefined || fixed === null) return 'no_price'
  const reason = amountRejection(fixed)
  return reason ?? { type: 'FIXED', currency, divisor, fixed: fixed as number }
}

function openMoney(side: Raw, currency: string, divisor: number): MoneyRange | RejectionReason {
  const { min, max } = side
  // The increment is optional, and without one every minor unit is a step.
  const increment = side['increment'] || 1
  const amounts = [min, max, increment]
  if (amounts.some((amount) => amountRejection(amount) !== undefined)) return 'bad_range'
  if ((min as number) > (max as number)) return 'bad_range'
  return {
    type: 'RANGE',
    currency,
    divisor,
    min: min as number,
    max: max as number,
    increment: increment as number,
  }
}

/**
 * A price may also come as a plain number, in major units. It names no currency, so it is taken to be in that
 * of the cost, which is the wallet's, or in US dollars if the cost names none.
 */
function plainPrice(major: number, cost: Raw | undefined): MoneyRange | RejectionReason {
  const currency = cost?.['currency'] ?? 'USD'
  const currencyDivisor = cost?.['currencyDivisor'] ?? 100
  const scaled = isDivisor(currencyDivisor) ? major * currencyDivisor : major
  const nearest = Math.round(scaled)
  const fixed = Math.abs(scaled - nearest) < 1e-6 ? nearest : scaled
  return moneyOf({ currency, currencyDivisor, fixed }, 'FIXED')
}

function amountRejection(amount: unknown): RejectionReason | undefined {
  if (typeof amount !== 'number' || !Number.isFinite(amount)) return 'price_not_whole'
  if (amount <= 0) return 'price_not_positive'
  if (amount > maxMinorUnits) return 'price_too_high'
  return Number.isInteger(amount) ? undefined : 'price_not_whole'
}

/** Minor units are decimal in every currency that is sold: 1, 10, 100, … 1 000 000. */
function isDivisor(value: unknown): value is number {
  return (
    typeof value === 'number' && [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].includes(value)
  )
}
