import type { Shelf } from '../goods/catalog.ts'
import { findOffer } from '../goods/find-offer.ts'
import type { Kind, Offer } from '../goods/offer.ts'
import { chargeFor, type Pricing, valueFault } from '../goods/pricing.ts'
import {
  type Fields,
  invalidBody,
  readWish,
  recipientFaults,
  type Wish,
} from '../goods/purchase-body.ts'
import type { Quoted, Quotes } from '../payments/quotes.ts'
import { type Till, termsOf } from '../payments/terms.ts'
import type { Terms } from '../payments/x402.ts'
import type { Usdc } from '../primitives/money.ts'

export interface PriceDeps {
  readonly shelf: Shelf
  readonly pricing: Pricing
  readonly till: Till
  readonly quotes: Quotes
}

/** What is asked for, checked against the catalog of now and priced. */
export interface Priced {
  readonly offer: Offer
  readonly wish: Wish
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
  const offer = offerOf(deps.shelf, kind, fields)
  const wish = readWish(offer, fields, (value) => valueFault(offer, value, deps.pricing))
  const amount = chargeFor(offer, wish.value, deps.pricing)
  const promised = deps.quotes.promised(promise, quotedOf(offer, wish))
  return promised === undefined
    ? { offer, wish, amount }
    : { offer, wish, amount: promised, promise: String(promise) }
}

function quotedOf({ id, price, faceValue }: Offer, { value }: Wish): Quoted {
  const counted = [price, ...(faceValue ? [faceValue] : [])]
  const units = counted.map(({ currency, divisor }) => `${currency}/${divisor}`).join(' ')
  return { offer: id, value, units }
}

/**
 * The terms for a priced wish, with our promise of the price. A price that was promised keeps the
 * promise it has: a new one would let a buyer who never pays hold on to an old price for ever.
 */
export function termsFor(deps: PriceDeps, { offer, wish, amount, promise }: Priced): Terms {
  const quote = promise ?? deps.quotes.promise(quotedOf(offer, wish), amount)
  return termsOf(amount, deps.till, quote)
}

function offerOf(shelf: Shelf, kind: Kind | undefined, fields: Fields): Offer {
  const { offerId } = fields
  if (typeof offerId !== 'string' || offerId === '') {
    const missing = { parameter: 'offerId', message: 'is required: the id of an offer' }
    throw invalidBody([missing, ...(kind ? recipientFaults(kind, fields) : [])])
  }
  return findOffer(shelf.current(), kind, offerId, 'offerId')
}
