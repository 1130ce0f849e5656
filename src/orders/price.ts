import * as z from 'zod'
import { findOffer, type LiveCatalog } from '../catalog/catalog.ts'
import { detailsOf, type Kind, type Offer } from '../catalog/offer.ts'
import {
  chargeFor,
  listedCharge,
  type Pricing,
  storePaused,
  valueFault,
} from '../catalog/pricing.ts'
import {
  type Fields,
  type LineItem,
  readLineItem,
  recipientFaults,
} from '../catalog/purchase-body.ts'
import type { Health } from '../health/health.ts'
import type { Unsold } from '../health/verdict.ts'
import { never } from '../lib/errors.ts'
import { type Cents, formatUsdc, type Usdc } from '../lib/money.ts'
import { type Charged, invalidBody, Refusal } from '../lib/refusal.ts'
import type { Checked } from '../payments/payment.ts'
import { type Payee, type Quoted, type Quotes, type Terms, termsOf } from '../payments/terms.ts'
import type { AdvanceDeps } from './advance.ts'
import { receiversOf } from './budgets.ts'
import { type Denylist, isDenied } from './denylist.ts'
import type { Item } from './order.ts'
import type { Reporter } from './ports.ts'

export interface PriceDeps {
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  readonly payee: Payee
  readonly quotes: Quotes
  readonly denylist: Denylist
  /** Whether webhooks may go to this machine: only in a sandbox. */
  readonly allowsLoopback?: boolean | undefined
}

/** A purchase, checked against the current catalog and priced. */
export interface Priced {
  readonly offer: Offer
  readonly lineItem: LineItem
  readonly amount: Usdc
  /** The store's promise of this price; absent if it is the current price. */
  readonly promise?: string
}

/**
 * Checks a purchase and prices it, at a promised price or the current one. A promise fixes the price alone: an offer
 * that is not sold any more, or a value out of range, is refused. Stores nothing and calls nobody.
 *
 * @throws Refusal `invalid_body`, `offer_not_found`, `offer_unavailable`, `store_paused`, `price_above_maximum`, `purchase_declined`
 */
export function price(
  deps: PriceDeps,
  kind: Kind | undefined,
  fields: Fields,
  promise?: unknown,
): Priced {
  const offer = offerOf(deps.liveCatalog, kind, fields)
  const rangeFault = (value: Cents) => valueFault(offer, value, deps.pricing)
  const { allowsLoopback } = deps
  const now = deps.pricing.now()
  const lineItem = readLineItem(offer, fields, { now, rangeFault, allowsLoopback })
  for (const receiver of receiversOf(lineItem.recipient)) requireNotDenied(deps, receiver)
  const amount = chargeFor(offer, lineItem.value, deps.pricing)
  const promisedAmount = deps.quotes.promised(promise, quotedOf(offer, lineItem))
  requireWithin(lineItem.most, promisedAmount ?? amount)
  return promisedAmount === undefined
    ? { offer, lineItem, amount }
    : { offer, lineItem, amount: promisedAmount, promise: String(promise) }
}

/** A buyer who names a maximum never pays more. */
function requireWithin(most: Usdc | undefined, amount: Usdc): void {
  if (most === undefined || amount <= most) return
  const message = `The price is ${formatUsdc(amount)} USDC, above the maximum of ${formatUsdc(most)} USDC that this request sets. Nothing was bought.`
  throw new Refusal('price_above_maximum', message, {
    parameter: 'maxUsdc',
    extra: { price: money(amount) },
  })
}

export function itemOf(
  { offer, lineItem }: Pick<Priced, 'offer' | 'lineItem'>,
  { rates }: Pick<Pricing, 'rates'>,
): Item {
  const value =
    lineItem.value === undefined ? undefined : (lineItem.value * offer.price.divisor) / 100
  return {
    kind: offer.kind,
    offerId: offer.id,
    source: offer.source,
    brandName: offer.brandName,
    ...(offer.country === undefined ? {} : { country: offer.country }),
    ...(value === undefined ? {} : { value }),
    charge: listedCharge(offer, value, rates()),
    shown: detailsOf(offer),
  }
}

function quotedOf({ id, price, faceValue }: Offer, { value }: LineItem): Quoted {
  const prices = [price, ...(faceValue ? [faceValue] : [])]
  const units = prices.map(({ currency, divisor }) => `${currency}/${divisor}`).join(' ')
  return { offer: id, value, units }
}

/** With a new promise each time, a buyer who never pays could keep an old price for ever. */
export function acceptsFor(
  deps: PriceDeps,
  { offer, lineItem, amount, promise }: Priced,
): readonly [Terms] {
  const quote = promise ?? deps.quotes.promise(quotedOf(offer, lineItem), amount)
  return [termsOf(amount, deps.payee, quote)]
}

function offerOf(liveCatalog: LiveCatalog, kind: Kind | undefined, fields: Fields): Offer {
  const { offerId } = fields
  if (typeof offerId !== 'string' || offerId === '') {
    const others = kind ? recipientFaults(kind, fields) : []
    throw invalidBody([{ field: 'offerId', code: 'missing_offer' }, ...others])
  }
  return findOffer(liveCatalog.current(), kind, offerId, 'offerId')
}

export function rechargedIccid({ lineItem: { recipient } }: Priced): string | undefined {
  return 'iccid' in recipient ? recipient.iccid : undefined
}

/**
 * This store must have delivered the eSIM to this payer, or the supplier must know it. Only plans of its own brand can
 * recharge an eSIM; the brand of one that was not sold here is not known.
 */
export async function foreignEsim(
  deps: Pick<AdvanceDeps, 'orders' | 'suppliers' | 'digest'>,
  priced: Priced,
  payer: string | undefined,
): Promise<Refusal | undefined> {
  const iccid = rechargedIccid(priced)
  if (iccid === undefined) return undefined
  const plans = await deps.orders.plansOf(deps.digest.of(iccid))
  const { brandName: brand = priced.offer.brandName } = plans[0] ?? {}
  if (brand !== priced.offer.brandName) {
    return invalidBody([{ field: 'iccid', code: 'other_esim', known: [brand] }])
  }
  if (plans.some((plan) => plan.payer === payer?.toLowerCase())) return undefined
  const answer = await deps.suppliers.at(priced.offer.source).knowsIccid(iccid)
  if (answer === 'yes') return undefined
  if (answer === 'unknown') return notNow('The eSIM could not be looked up just now.', 'no')
  return invalidBody([{ field: 'iccid', code: 'foreign_esim' }])
}

/** A part of the store does not answer, and the same request may succeed in a moment. */
export function notNow(what: string, charged?: 'no' | 'unknown'): Refusal {
  const message = `${what} Send the same request again.`
  return new Refusal('try_again', message, { retryAfterSeconds: 5, ...(charged && { charged }) })
}

/** Says whether money can have moved; only the operator learns why. @throws Refusal `try_again` for any other error */
export async function orTryAgain<T>(
  report: Reporter,
  charged: 'no' | 'unknown',
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    report({ name: 'purchase_failed', error })
    throw notNow('A dependency is temporarily unavailable.', charged)
  }
}

/**
 * @param isFromFloat whether the refund wallet would pay it back
 * @throws Refusal `store_paused` or `too_costly` if nothing is sold, `offer_unavailable` if not this supplier's or this
 *   amount
 */
export function requireSold(
  health: Pick<Health, 'unsold'>,
  { amount, offer }: Sale,
  isFromFloat: boolean,
): void {
  refuseUnsold(health.unsold(amount, offer.source.supplier, isFromFloat), amount)
}

type Sale = Pick<Priced, 'amount'> & { readonly offer: Pick<Offer, 'source'> }

/** @throws Refusal as `requireSold` does */
export function refuseUnsold(reason: Unsold | undefined, amount: Usdc): void {
  switch (reason?.type) {
    case undefined:
      return
    case 'paused':
      throw storePaused()
    case 'too_costly':
      throw tooCostly({})
    case 'supplier_paused':
      throw unavailable('The supplier of this offer sells nothing at the moment.')
    case 'too_large':
      throw unavailable(
        `The store sells for at most ${formatUsdc(reason.bound.max)} USDC per purchase at the moment; this is ${formatUsdc(amount)} USDC.`,
        // Names the bound, not its cause: how much the store's wallets hold is private.
        { reason: 'too_large', most: money(reason.bound.max), asked: money(amount) },
      )
    default:
      never(reason)
  }
}

function unavailable(message: string, extra: Record<string, unknown> = {}): Refusal {
  return new Refusal('offer_unavailable', message, { retryAfterSeconds: 60, extra })
}

export function notChecked({
  charged,
  isTooCostly = false,
}: Pick<Extract<Checked, { outcome: 'unknown' }>, 'charged' | 'isTooCostly'>): Refusal {
  if (!isTooCostly) return notNow('The payment could not be checked at the moment.', charged)
  return tooCostly({ charged })
}

function tooCostly(details: { readonly charged?: Charged }): Refusal {
  // Fees move within minutes.
  const message = 'Network fees are too high at the moment. Send the same request again.'
  return new Refusal('too_costly', message, { ...details, retryAfterSeconds: 60 })
}

/** The answer names neither the reason nor whom it concerns. @throws Refusal `purchase_declined` */
export function requireNotDenied(
  { denylist }: { readonly denylist: Denylist },
  party: string | undefined,
): void {
  if (party === undefined || !isDenied(denylist, party)) return
  throw new Refusal('purchase_declined', 'The store declines this purchase.', { charged: 'no' })
}

/**
 * The refusal for an error of a request that reads orders. Only the log says why they cannot be read.
 *
 * @param charged the `charged` of the refusal, on paths that report it: unknown while nothing can be read
 */
export function notReadable(
  log: { error(details: object, message: string): void },
  error: unknown,
  charged?: 'unknown',
): Refusal {
  if (error instanceof Refusal) return error
  log.error({ err: error }, 'orders not readable')
  return notNow('The orders cannot be read just now.', charged)
}

export const LimitMoney = z.object({
  usdc: z.string().describe('As people write it: "12.50"'),
  atomic: z.string().describe('In millionths of a USDC, as x402 carries it: "12500000"'),
})

export function money(amount: Usdc): z.infer<typeof LimitMoney> {
  return { usdc: formatUsdc(amount), atomic: amount.toString() }
}
