import { type Cents, cents, type Usdc, usdcFromCents } from '../primitives/money.ts'
import { Refusal } from '../primitives/refusal.ts'
import type { MoneyRange, Offer } from './offer.ts'
import type { RateTable } from './ports.ts'

/** What the store adds to the supplier's price, and what it knows of exchange rates. */
export interface Pricing {
  /** Basis points on top of the supplier's price: 250 is 2.5 %. */
  readonly markupBps: number
  /** The newest table there is, however old; undefined before the first one was read. */
  readonly rates: () => RateTable | undefined
  readonly now: () => Date
}

/** What a buyer pays for an offer, in cents of a dollar, or why it is not sold. */
export type Retail =
  | { readonly type: 'FIXED'; readonly cents: Cents }
  | { readonly type: 'RANGE'; readonly min: Cents; readonly max: Cents; readonly increment: Cents }
  | { readonly type: 'NOT_SOLD'; readonly code: NotSoldCode; readonly reason: string }

type NotSoldCode = 'required_fields' | 'open_value_currency' | 'rate_missing' | 'rate_stale'

/** The required voucher fields that the published purchase body can fill (suppliers A.5). */
export const fillableFields: ReadonlySet<string> = new Set([
  'recipient.firstName',
  'recipient.lastName',
  'recipient.email',
  'recipient.country',
  'sender.firstName',
  'sender.lastName',
  'sender.email',
  'sender.country',
])

const hourMs = 3_600_000

/**
 * The price for buyers: the supplier's price plus the markup, in USD, rounded up to the cent
 * (decisions 1). For RANGE offers the bounds are the *values* a buyer may choose, before markup.
 */
export function retailOf(offer: Offer, pricing: Pricing): Retail {
  const unfillable = unfillableFields(offer)
  if (unfillable.length > 0) {
    const reason = `The brand asks for ${unfillable.join(', ')}, which this store cannot pass on.`
    return { type: 'NOT_SOLD', code: 'required_fields', reason }
  }
  return offer.price.type === 'FIXED' ? fixedRetail(offer.price, pricing) : openRetail(offer.price)
}

/**
 * What this purchase costs.
 *
 * @param value what the buyer chose, in cents; undefined on FIXED offers
 * @throws Refusal `offer_unavailable` when the offer is not sold, `invalid_body` on a wrong value
 */
export function chargeFor(offer: Offer, value: Cents | undefined, pricing: Pricing): Usdc {
  const retail = retailOf(offer, pricing)
  if (retail.type === 'NOT_SOLD') throw notSold(offer, retail)
  if (retail.type === 'FIXED') {
    if (value !== undefined) throw badValue('is only for open-value (RANGE) offers')
    return usdcFromCents(retail.cents)
  }
  if (value === undefined) throw badValue(`is required: ${rangeText(retail)}`)
  const onIncrement = (value - retail.min) % retail.increment === 0
  if (value < retail.min || value > retail.max || !onIncrement) {
    throw badValue(`must be ${rangeText(retail)}`)
  }
  return usdcFromCents(withMarkup(value, pricing.markupBps))
}

/** The least a purchase of this offer can cost, or undefined when it is not sold. */
export function lowestCharge(offer: Offer, pricing: Pricing): Usdc | undefined {
  const retail = retailOf(offer, pricing)
  if (retail.type === 'NOT_SOLD') return undefined
  const lowest = retail.type === 'FIXED' ? retail.cents : withMarkup(retail.min, pricing.markupBps)
  return usdcFromCents(lowest)
}

/** Adds the markup to an amount in any minor unit and rounds up, in integers throughout. */
export function withMarkup(minor: number, markupBps: number): Cents {
  const raised = BigInt(minor) * BigInt(10_000 + markupBps)
  return cents(Number(ceilDivide(raised, 10_000n)))
}

/** An amount in US dollars, unrounded, for comparing; undefined without a rate. */
export function inUsd(minor: number, money: MoneyRange, rates: RateTable | undefined) {
  const rate = money.currency === 'USD' ? 1 : rates?.perUsd[money.currency]
  return rate === undefined ? undefined : minor / money.divisor / rate
}

/**
 * Past 48 h a table no longer prices anything; past 96 h when a weekend falls into those 48 h. A
 * weekend that only comes later mends nothing: what is too old stays too old.
 */
export function isStale(table: RateTable, now: Date): boolean {
  const hours = (now.getTime() - table.asOf.getTime()) / hourMs
  return hours > (meetsWeekend(table.asOf) ? 96 : 48)
}

function meetsWeekend(asOf: Date): boolean {
  return [0, 24, 48].some((hours) => {
    const day = new Date(asOf.getTime() + hours * hourMs).getUTCDay()
    return day === 0 || day === 6
  })
}

function fixedRetail(price: Extract<MoneyRange, { type: 'FIXED' }>, pricing: Pricing): Retail {
  if (price.currency === 'USD') {
    const raised = BigInt(price.fixed) * BigInt(10_000 + pricing.markupBps) * 100n
    const whole = ceilDivide(raised, 10_000n * BigInt(price.divisor))
    return { type: 'FIXED', cents: cents(Number(whole)) }
  }
  const table = pricing.rates()
  const rate = table?.perUsd[price.currency]
  if (table === undefined || rate === undefined) {
    const reason = `It is priced in ${price.currency}, for which the store has no exchange rate.`
    return { type: 'NOT_SOLD', code: 'rate_missing', reason }
  }
  if (isStale(table, pricing.now())) {
    const reason = `It is priced in ${price.currency}, and the newest exchange rate, of ${table.asOf.toISOString()}, is too old.`
    return { type: 'NOT_SOLD', code: 'rate_stale', reason }
  }
  return { type: 'FIXED', cents: convert(price.fixed, price.divisor, rate, pricing.markupBps) }
}

/**
 * Converts once and rounds up once. The rate becomes an integer of millionths, rounded down, so
 * that the buyer is never charged for less than the good costs.
 */
function convert(minor: number, divisor: number, perUsd: number, markupBps: number): Cents {
  const millionths = BigInt(Math.floor(perUsd * 1e6))
  if (millionths <= 0n) throw new Error(`${perUsd} is not an exchange rate`)
  const numerator = BigInt(minor) * BigInt(10_000 + markupBps) * 100n * 1_000_000n
  return cents(Number(ceilDivide(numerator, BigInt(divisor) * 10_000n * millionths)))
}

function openRetail(price: Extract<MoneyRange, { type: 'RANGE' }>): Retail {
  if (price.currency !== 'USD' || 100 % price.divisor !== 0) {
    const reason = `Its value is chosen in ${price.currency}; this store sells open values in US dollars and cents only.`
    return { type: 'NOT_SOLD', code: 'open_value_currency', reason }
  }
  const perUnit = 100 / price.divisor
  return {
    type: 'RANGE',
    min: cents(price.min * perUnit),
    max: cents(price.max * perUnit),
    increment: cents(price.increment * perUnit),
  }
}

function unfillableFields(offer: Offer): string[] {
  if (offer.kind !== 'voucher') return []
  return offer.requiredFields.filter((field) => !fillableFields.has(field))
}

function notSold(offer: Offer, retail: Extract<Retail, { type: 'NOT_SOLD' }>): Refusal {
  return new Refusal('offer_unavailable', `${offer.id} is not sold now. ${retail.reason}`, {
    extra: { reason: retail.code },
  })
}

function badValue(message: string): Refusal {
  return new Refusal('invalid_body', `value ${message}.`, {
    parameter: 'value',
    errors: [{ parameter: 'value', message }],
  })
}

function rangeText(retail: Extract<Retail, { type: 'RANGE' }>): string {
  const usd = (amount: number) => (amount / 100).toFixed(2)
  return `from ${usd(retail.min)} to ${usd(retail.max)} USD in steps of ${usd(retail.increment)}`
}

function ceilDivide(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator
}
