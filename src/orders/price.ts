import type { LiveCatalog } from '../catalog/catalog.ts'
import { findOffer } from '../catalog/find-offer.ts'
import type { Kind, Offer } from '../catalog/offer.ts'
import { detailsOf } from '../catalog/offer-details.ts'
import { chargeFor, listedCharge, type Pricing, valueFault } from '../catalog/pricing.ts'
import {
  type Fields,
  type LineItem,
  readLineItem,
  recipientFaults,
} from '../catalog/purchase-body.ts'
import { type Cents, formatUsdc, type Usdc } from '../lib/money.ts'
import { invalidBody, Refusal } from '../lib/refusal.ts'
import {
  type Accepts,
  acceptsOf,
  type Payees,
  type Quoted,
  type Quotes,
} from '../payments/terms.ts'
import type { AdvanceDeps } from './advance.ts'
import type { Item } from './order.ts'
import { type Denylist, notNow, requireNotDenied } from './refusals.ts'
import { money, receiverOf } from './spending-limits/rules.ts'

export interface PriceDeps {
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  readonly payees: Payees
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
 * @throws Refusal `invalid_body`, `offer_not_found`, `offer_unavailable`, `price_above_maximum`, `purchase_declined`
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
  const lineItem = readLineItem(offer, fields, { rangeFault, allowsLoopback })
  requireNotDenied(deps, receiverOf(lineItem.recipient).text)
  const amount = chargeFor(offer, lineItem.value, deps.pricing)
  const promised = deps.quotes.promised(promise, quotedOf(offer, lineItem))
  requireWithin(lineItem.most, promised ?? amount)
  return promised === undefined
    ? { offer, lineItem, amount }
    : { offer, lineItem, amount: promised, promise: String(promise) }
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

export function itemOf({ offer, lineItem }: Pick<Priced, 'offer' | 'lineItem'>): Item {
  const value =
    lineItem.value === undefined ? undefined : (lineItem.value * offer.price.divisor) / 100
  return {
    kind: offer.kind,
    offerId: offer.id,
    source: offer.source,
    brandName: offer.brandName,
    ...(offer.country === undefined ? {} : { country: offer.country }),
    ...(value === undefined ? {} : { value }),
    charge: listedCharge(offer, value),
    shown: detailsOf(offer),
  }
}

function quotedOf({ id, price, faceValue }: Offer, { value }: LineItem): Quoted {
  const counted = [price, ...(faceValue ? [faceValue] : [])]
  const units = counted.map(({ currency, divisor }) => `${currency}/${divisor}`).join(' ')
  return { offer: id, value, units }
}

/** With a new promise each time, a buyer who never pays could keep an old price for ever. */
export function acceptsFor(deps: PriceDeps, { offer, lineItem, amount, promise }: Priced): Accepts {
  const quote = promise ?? deps.quotes.promise(quotedOf(offer, lineItem), amount)
  return acceptsOf(amount, deps.payees, quote)
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

/** This store must have delivered the eSIM to this payer, or the supplier must know it. */
export async function foreignEsim(
  deps: Pick<AdvanceDeps, 'orders' | 'suppliers' | 'digest'>,
  priced: Priced,
  payer: string | undefined,
): Promise<Refusal | undefined> {
  const iccid = rechargedIccid(priced)
  if (iccid === undefined) return undefined
  if (payer !== undefined && (await deps.orders.boughtIccid(payer, deps.digest.of(iccid)))) {
    return undefined
  }
  const known = await deps.suppliers.at(priced.offer.source).knowsIccid(iccid)
  if (known === 'yes') return undefined
  if (known === 'unknown') return notNow('The eSIM could not be looked up just now.', 'no')
  return invalidBody([{ field: 'iccid', code: 'foreign_esim' }])
}
