import type { LiveCatalog } from '../catalog/catalog.ts'
import { findOffer } from '../catalog/find-offer.ts'
import type { Kind, Offer } from '../catalog/offer.ts'
import { chargeFor, type Pricing, valueFault } from '../catalog/pricing.ts'
import {
  type Fields,
  invalidBody,
  type LineItem,
  readLineItem,
  recipientFaults,
} from '../catalog/purchase-body.ts'
import type { Usdc } from '../lib/money.ts'
import type { Quoted, Quotes } from '../payments/quotes.ts'
import { type Payee, termsOf } from '../payments/terms.ts'
import type { Terms } from '../payments/x402.ts'

export interface PriceDeps {
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  readonly payee: Payee
  readonly quotes: Quotes
}

/** What is asked for, checked against the catalog of now and priced. */
export interface Priced {
  readonly offer: Offer
  readonly lineItem: LineItem
  readonly amount: Usdc
  /** Our promise that this price comes from, where it does. */
  readonly promise?: string
}

/**
 * Checks what is asked for and prices it: with our own promise of a price, that price; without
 * one, the price of now. The promise is of the price alone, so all else is as the offer is now: what
 * is not sold any more, or not in that range, is refused. Stores nothing and asks nobody.
 *
 * @param kind undefined where the offer says which it is
 * @param promise what the buyer echoes as our promise of a price
 * @throws Refusal `invalid_body`, `offer_not_found`, `offer_unavailable`
 */
export function price(
  deps: PriceDeps,
  kind: Kind | undefined,
  fields: Fields,
  promise?: unknown,
): Priced {
  const offer = offerOf(deps.liveCatalog, kind, fields)
  const lineItem = readLineItem(offer, fields, (value) => valueFault(offer, value, deps.pricing))
  const amount = chargeFor(offer, lineItem.value, deps.pricing)
  const promised = deps.quotes.promised(promise, quotedOf(offer, lineItem))
  return promised === undefined
    ? { offer, lineItem, amount }
    : { offer, lineItem, amount: promised, promise: String(promise) }
}

function quotedOf({ id, price, faceValue }: Offer, { value }: LineItem): Quoted {
  const counted = [price, ...(faceValue ? [faceValue] : [])]
  const units = counted.map(({ currency, divisor }) => `${currency}/${divisor}`).join(' ')
  return { offer: id, value, units }
}

/**
 * The terms for a priced line item, with our promise of the price. A price that was promised keeps the
 * promise it has: a new one would let a buyer who never pays hold on to an old price for ever.
 */
export function termsFor(deps: PriceDeps, { offer, lineItem, amount, promise }: Priced): Terms {
  const quote = promise ?? deps.quotes.promise(quotedOf(offer, lineItem), amount)
  return termsOf(amount, deps.payee, quote)
}

function offerOf(liveCatalog: LiveCatalog, kind: Kind | undefined, fields: Fields): Offer {
  const { offerId } = fields
  if (typeof offerId !== 'string' || offerId === '') {
    const missing = { parameter: 'offerId', message: 'is required: the id of an offer' }
    throw invalidBody([missing, ...(kind ? recipientFaults(kind, fields) : [])])
  }
  return findOffer(liveCatalog.current(), kind, offerId, 'offerId')
}
