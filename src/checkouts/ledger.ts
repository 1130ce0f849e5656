import { type Usdc, usdc } from '../lib/money.ts'
import { type Entry, entriesBetween } from '../orders/ledger.ts'
import {
  type Checkout,
  type InvoicedCheckout,
  isInvoiced,
  isVoid,
  mayBePaid,
  priceUnits,
  type Return,
  settledUnits,
} from './checkout.ts'

/** In units of the coin; the five sum to zero. `kept`: sending it would cost more than it is worth. */
export const checkoutAccounts = ['received', 'price', 'due', 'returned', 'kept'] as const
export type CheckoutAccount = (typeof checkoutAccounts)[number]

export type CheckoutEntry = Entry<CheckoutAccount>

/** The highest worth that is kept: sending less would cost about as much. The database closes none that keeps more. */
export const maxKept: Usdc = usdc(500_000n)

export function checkoutEntriesOf(
  from: Checkout | undefined,
  to: Checkout,
): readonly CheckoutEntry[] {
  return entriesBetween(from ? checkoutBalancesOf(from) : [], checkoutBalancesOf(to))
}

/** Where the confirmed money of a checkout is. Unconfirmed money may vanish and does not count as received. */
export function checkoutBalancesOf(checkout: Checkout): readonly CheckoutEntry[] {
  if (!isInvoiced(checkout)) return []
  const received = settledUnits(checkout.invoice)
  const price = priceUnits(checkout)
  const returned = sumOf(checkout.returns.filter(({ payout }) => payout.state === 'CONFIRMED'))
  const rest = received - price - returned
  const entries: readonly CheckoutEntry[] = [
    { account: 'received', amount: received },
    { account: 'price', amount: -price },
    { account: 'returned', amount: -returned },
    { account: checkout.closedAt === undefined ? 'due' : 'kept', amount: -rest },
  ]
  return entries.filter(({ amount }) => amount !== 0n)
}

export function unreturnedUnits(checkout: Checkout): bigint {
  return isInvoiced(checkout) ? settledUnits(checkout.invoice) - claimedUnits(checkout) : 0n
}

export function claimedUnits(checkout: InvoicedCheckout): bigint {
  return priceUnits(checkout) + sumOf(checkout.returns.filter((one) => !isVoid(one)))
}

/** The most that may go out: the price, every return that may be paid, and `one`. */
export function payableUnits(checkout: InvoicedCheckout, one?: Return): bigint {
  const returns = checkout.returns.filter((other) => other.seq === one?.seq || mayBePaid(other))
  return claimedUnits({ ...checkout, returns })
}

function sumOf(returns: readonly Return[]): bigint {
  return returns.reduce((sum, { units }) => sum + units, 0n)
}
