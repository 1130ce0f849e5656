import { type Cents, cents, type Usdc, usdcFromCents } from '../lib/money.ts'
import { type FaultReason, invalidBody, Refusal } from '../lib/refusal.ts'
import { goods } from './kinds.ts'
import {
  type Charge,
  type FixedMoney,
  kindOf,
  type LandedCost,
  type ListName,
  listOf,
  type MoneyRange,
  type Offer,
  type OpenMoney,
} from './offer.ts'
import { ceilDivide, type OpenPrice, plus, priceAt, withMargin } from './open-price.ts'
import type { RateTable } from './ports.ts'
import type { Margin, SellingRules } from './selling-rules.ts'
import { isOldList, isStale } from './staleness.ts'

export interface Pricing {
  /** The margin where no rule says another: basis points on top of the supplier's price, 250 is 2.5 %. */
  readonly markupBps: number
  /** The operator's rules in force. */
  readonly rules: () => SellingRules
  /** The newest table there is, however old; undefined before the first one was read. */
  readonly rates: () => RateTable | undefined
  readonly readAt: (list: ListName) => Date
  readonly now: () => Date
}

/** What a buyer pays for an offer, in cents of a dollar, or why it is not sold. */
export type Retail = Fixed | Open | NotSold

interface Fixed {
  readonly type: 'FIXED'
  readonly cents: Cents
  /** Which was higher and sets the price: the supplier's price, or what it charges the store, with the margin. */
  readonly by: 'price' | 'cost'
  readonly margin: Margin
}

interface Open extends OpenPrice {
  readonly type: 'RANGE'
  /** The values that a buyer may choose: `min` and then every `increment` up to `max`. */
  readonly increment: Cents
  readonly lowest: Cents
  readonly highest: Cents
}

interface NotSold {
  readonly type: 'NOT_SOLD'
  readonly code: NotSoldCode
  readonly reason: string
}

type NotSoldCode =
  | 'required_fields'
  | 'open_value_currency'
  | 'open_value_kind'
  | 'list_stale'
  | 'rate_missing'
  | 'rate_stale'
  | 'paused'

/**
 * The price for buyers: the supplier's price or what the supplier charges, whichever is more in US
 * dollars, plus the margin, rounded up to the cent, and never below what the supplier charges
 * (docs/contributors/decisions/003).
 */
export function retailOf(offer: Offer, pricing: Pricing): Retail {
  return pricing.rules().isEverythingPaused ? paused : shelfRetail(offer, pricing)
}

/** The same while everything is paused: goods stay on the shelf, with their places in searches. */
function shelfRetail(offer: Offer, pricing: Pricing): Retail {
  return unsoldFor(offer, pricing) ?? pricedOf(offer, pricing)
}

const paused: NotSold = {
  type: 'NOT_SOLD',
  code: 'paused',
  reason: 'Its sale is paused.',
}

/** The margin that the rules in force give an offer, or the default. */
export function marginOf(offer: Offer, { rules, markupBps }: Pricing): Margin {
  return rules().marginOf(offer) ?? { bps: markupBps, cents: 0 }
}

/**
 * @param value what the buyer chose, in cents; undefined on FIXED offers
 * @throws Refusal `offer_unavailable` when the offer is not sold, `store_paused` when nothing is, `invalid_body` on a
 *   wrong value
 */
export function chargeFor(offer: Offer, value: Cents | undefined, pricing: Pricing): Usdc {
  if (pricing.rules().isEverythingPaused) throw storePaused()
  const retail = retailOf(offer, pricing)
  if (retail.type === 'NOT_SOLD') {
    const message = `${offer.id} is not sold now. ${retail.reason}`
    throw new Refusal('offer_unavailable', message, { extra: { reason: retail.code } })
  }
  if (retail.type === 'FIXED') {
    if (value !== undefined) throw badValue({ code: 'fixed_price' })
    return usdcFromCents(retail.cents)
  }
  if (value === undefined) throw badValue({ code: 'missing_value', ...boundsOf(retail) })
  const fault = rangeFault(value, retail)
  if (fault !== undefined) throw badValue(fault)
  return usdcFromCents(priceAt(value, retail))
}

export function valueFault(offer: Offer, value: Cents, pricing: Pricing): FaultReason | undefined {
  const retail = retailOf(offer, pricing)
  return retail.type === 'RANGE' ? rangeFault(value, retail) : undefined
}

/** By which searches compare it; a pause of everything does not change that. */
export function lowestCharge(offer: Offer, pricing: Pricing): Usdc | undefined {
  const retail = shelfRetail(offer, pricing)
  if (retail.type === 'NOT_SOLD') return undefined
  return usdcFromCents(retail.type === 'FIXED' ? retail.cents : retail.lowest)
}

/** An amount in US dollars, unrounded, for comparing; undefined without a rate. */
export function inUsd(minor: number, money: MoneyRange, rates: RateTable | undefined) {
  const rate = money.currency === 'USD' ? 1 : rates?.perUsd[money.currency]
  return rate === undefined ? undefined : minor / money.divisor / rate
}

function unsoldFor(offer: Offer, pricing: Pricing): NotSold | undefined {
  if (pricing.rules().pauses(offer)) return paused
  const unfillable = kindOf(offer).unfillableFields?.(offer) ?? []
  if (unfillable.length > 0) {
    const reason = `The brand asks for ${unfillable.join(', ')}, which this store cannot pass on.`
    return { type: 'NOT_SOLD', code: 'required_fields', reason }
  }
  const readAt = pricing.readAt(listOf(offer))
  if (isOldList(readAt, pricing.now())) {
    const reason = `Its price was last read from the supplier at ${readAt.toISOString()}, which is too long ago.`
    return { type: 'NOT_SOLD', code: 'list_stale', reason }
  }
  return unsoldRange(offer) ?? rateless(offer, pricing)
}

function unsoldRange({ kind, price }: Offer): NotSold | undefined {
  if (price.type === 'FIXED') return undefined
  const { takesValue, words } = goods[kind]
  if (!takesValue) {
    const reason = `Its value is open, and the supplier takes no value for ${words.article} ${words.noun}.`
    return { type: 'NOT_SOLD', code: 'open_value_kind', reason }
  }
  if (price.currency === 'USD' && 100 % price.divisor === 0) return undefined
  const reason = `Its value is chosen in ${price.currency}; this store sells open values in US dollars and cents only.`
  return { type: 'NOT_SOLD', code: 'open_value_currency', reason }
}

function rateless({ price, cost }: Offer, pricing: Pricing): NotSold | undefined {
  const foreign = [price.currency, cost.currency].filter((currency) => currency !== 'USD')
  if (foreign.length === 0) return undefined
  const table = pricing.rates()
  const missing = foreign.find((currency) => millionthsOf(table, currency) <= 0n)
  if (table === undefined || missing !== undefined) {
    const reason = `It is priced in ${missing}, for which the store has no exchange rate.`
    return { type: 'NOT_SOLD', code: 'rate_missing', reason }
  }
  if (!isStale(table, pricing.now())) return undefined
  const reason = `It is priced in ${foreign[0]}, and the newest exchange rate, of ${table.asOf.toISOString()}, is too old.`
  return { type: 'NOT_SOLD', code: 'rate_stale', reason }
}

function pricedOf(offer: Offer, pricing: Pricing): Retail {
  const { price, cost } = offer
  const margin = marginOf(offer, pricing)
  const least = leastMarginOf(offer, margin, pricing)
  if (price.type === 'RANGE') return openRetail(price, cost, { pricing, margin, least })
  const byPrice = retailCents(price.fixed, price, margin, pricing)
  const byCost = costingCents(cost.max, cost, { pricing, margin, least })
  return byPrice >= byCost
    ? { type: 'FIXED', cents: byPrice, by: 'price', margin }
    : { type: 'FIXED', cents: byCost, by: 'cost', margin }
}

const nothing: Margin = { bps: 0, cents: 0 }

/** The margin on the cost that an offer must bring. Undefined where its own margin cannot fall below the cost. */
function leastMarginOf(
  offer: Offer,
  { bps, cents }: Margin,
  { rules }: Pricing,
): Margin | undefined {
  const least = rules().leastMarginOf(offer)
  return least ?? (bps < 0 || cents < 0 ? nothing : undefined)
}

interface Terms {
  readonly pricing: Pricing
  readonly margin: Margin
  readonly least: Margin | undefined
}

/** What the supplier charges, with the margin, or with the least one where that is more. */
function costingCents(charged: number, cost: Money, { pricing, margin, least }: Terms): Cents {
  const byMargin = retailCents(charged, cost, margin, pricing)
  if (least === undefined) return byMargin
  return cents(Math.max(byMargin, retailCents(charged, cost, least, pricing)))
}

function openRetail(price: OpenMoney, cost: LandedCost, terms: Terms): Retail {
  const { margin } = terms
  const perUnit = 100 / price.divisor
  const [min, increment] = [cents(price.min * perUnit), cents(price.increment * perUnit)]
  // A highest value that is not on a step cannot be bought.
  const max = cents(min + Math.floor((price.max * perUnit - min) / increment) * increment)
  const { fee } = price
  const costing = (value: Cents) => {
    const byCost = costingCents(costAt(cost, price, value / perUnit), cost, terms)
    const withFee = fee === undefined ? 0 : withMargin(value + fee * perUnit, margin)
    return cents(Math.max(byCost, withFee))
  }
  const floor = { lowest: costing(min), highest: costing(max) }
  const [lowest, highest] = [withMargin(min, margin), withMargin(max, margin)]
  const values = { type: 'RANGE', min, max, increment, margin } as const
  if (floor.lowest <= lowest && floor.highest <= highest) return { ...values, lowest, highest }
  return {
    ...values,
    lowest: cents(Math.max(lowest, floor.lowest)),
    highest: cents(Math.max(highest, floor.highest)),
    floor,
  }
}

/**
 * What the supplier may charge for a chosen value. It names its charge only at both ends of a range. In between,
 * the charge may rise on a line from one end to the other, as with a fixed fee, or in proportion to the value: the
 * higher of the two counts. The result is convex, so a straight line between two of its points is never too low.
 *
 * @param chosen a whole number of minor units of the price
 */
function costAt(cost: LandedCost, price: OpenMoney, chosen: number): number {
  if (price.max === price.min) return cost.max
  const [least, greatest, value] = [BigInt(cost.min), BigInt(cost.max), BigInt(chosen)]
  const [from, to] = [BigInt(price.min), BigInt(price.max)]
  const growing = least + ceilDivide((greatest - least) * (value - from), to - from)
  const inProportion = ceilDivide(greatest * value, to)
  return Math.max(Number(growing), Number(inProportion))
}

export function listedCharge(
  { price, cost }: Offer,
  chosen: number | undefined,
  rates: RateTable | undefined,
): Charge {
  const { currency, divisor, max } = cost
  const isOpen = price.type === 'RANGE' && chosen !== undefined
  const perUsd = rates?.perUsd[currency]
  const amount = isOpen ? costAt(cost, price, chosen) : max
  return { currency, divisor, amount, ...(perUsd === undefined ? {} : { perUsd }) }
}

/**
 * An amount with the margin, in cents of a dollar. Converts once and rounds up once, in integers, so
 * that the buyer never pays less than the goods cost.
 */
function retailCents(
  minor: number,
  { currency, divisor }: Money,
  { bps, cents: more }: Margin,
  pricing: Pricing,
): Cents {
  const quick = minor * (10_000 + bps) * 100
  if (currency === 'USD' && Number.isSafeInteger(quick)) {
    // Exact without big integers, in which a catalog is priced many times slower.
    const rest = quick % (divisor * 10_000)
    return plus((quick - rest) / (divisor * 10_000) + Number(rest > 0), more)
  }
  const raised = BigInt(minor) * BigInt(10_000 + bps) * 100n
  const scale = BigInt(divisor) * 10_000n
  const millionths = millionthsOf(pricing.rates(), currency)
  return plus(Number(ceilDivide(raised * 1_000_000n, scale * millionths)), more)
}

type Money = Pick<FixedMoney, 'currency' | 'divisor'>

/**
 * A rate as whole millionths, rounded down; 0 if there is no usable rate. No unit of any currency is worth a
 * thousand dollars, so a rate below a thousandth is a mistake.
 */
function millionthsOf(table: RateTable | undefined, currency: string): bigint {
  if (currency === 'USD') return 1_000_000n
  const rate = table?.perUsd[currency] ?? 0
  return rate >= 0.001 && rate < 1e9 ? BigInt(Math.floor(rate * 1e6)) : 0n
}

export function storePaused(): Refusal {
  return new Refusal('store_paused', 'The store accepts no purchases at the moment.', {
    retryAfterSeconds: 60,
    extra: { agent_action: 'stop' },
  })
}

function badValue(reason: FaultReason): Refusal {
  return invalidBody([{ field: 'value', ...reason }])
}

function rangeFault(value: Cents, retail: Open): FaultReason | undefined {
  const { min, max, increment } = retail
  const isSold = value >= min && value <= max && (value - min) % increment === 0
  return isSold ? undefined : { code: 'out_of_range', ...boundsOf(retail) }
}

function boundsOf({ min, max, increment }: Open) {
  const usd = (amount: Cents) => (amount / 100).toFixed(2)
  return { min: usd(min), max: usd(max), step: usd(increment) }
}
