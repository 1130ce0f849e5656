import { type CheckoutId, isCheckoutId, isOrderId, type OrderId } from '../lib/ids.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import { orderOfGoodwill } from '../orders/goodwill.ts'
import { type Entry, entriesBetween, type Item } from '../orders/order.ts'
import type { Payout, PayoutIn } from '../orders/payout.ts'
import type { Subjects } from '../orders/ports.ts'
import { type Coin, coinAbilities } from '../payments/coins.ts'
import { type InvoiceRefund, payerOf, paymentVanished } from '../payments/payment.ts'
import type { Sealed } from '../secrets/secrets.ts'

export interface InvoicePayment {
  readonly id: string
  readonly transaction: string
  /** In the coin's smallest unit, as is every `units` here. */
  readonly units: bigint
  /** `SETTLED` has the confirmations that the operator asks for. `INVALID` never got them. */
  readonly status: 'PROCESSING' | 'SETTLED' | 'INVALID'
  readonly receivedAt: Date
  /** Set on the sum of many small payments, which grows when more of them arrive. */
  readonly isSum?: true
}

export interface Invoice {
  readonly id: string
  /**
   * `SETTLED`: paid in full, in time and confirmed. `PROCESSING`: not confirmed yet. The last two cannot be paid any
   * more.
   */
  readonly status: 'NEW' | 'PROCESSING' | 'SETTLED' | 'EXPIRED' | 'INVALID'
  /** Where it is paid now. The processor may change it after a part payment, as it does for Monero. */
  readonly address: string
  /** Those that the buyer was shown, the present one among them. All stay the buyer's. */
  readonly addresses: readonly string[]
  /** The link that a wallet opens, with amount and address (BIP-21 and its like). */
  readonly paymentLink: string
  /** US dollars for one coin, as the processor fixed it for the life of the invoice. */
  readonly rate: string
  /** The price as it was first shown. */
  readonly units: bigint
  /** What is missing, sent as one payment: the processor may take a network fee from each. 0 if nothing is. */
  readonly due: bigint
  readonly expiresAt: Date
  /** Until then the processor looks for late and duplicate payments. */
  readonly watchedUntil: Date
  readonly payments: readonly InvoicePayment[]
}

/** Money of an invoice that does not belong to its order, on its way back to the buyer. */
export interface Return {
  /** Counts the returns of one checkout, from 1. */
  readonly seq: number
  readonly units: bigint
  readonly why: 'underpaid' | 'late' | 'surplus'
  readonly payout: Payout
  /** Set for good when it is approved, and if it is tried again: it may have been paid since. */
  readonly isTried?: true
}

interface Begun {
  readonly id: CheckoutId
  readonly orderId: OrderId
  readonly version: number
  readonly item: Item
  /** Undefined once the personal fields were erased; the order has its own. */
  readonly recipient: Sealed | undefined
  /** Whose budgets its order counts against, besides those of its payer; kept while it may still be opened. */
  readonly subjects?: Omit<Subjects, 'payer'>
  readonly fingerprint: string
  /** SHA-256 of the token that opens the checkout, and the goods of its order. */
  readonly accessTokenHash: string
  /** SHA-256 of the key in the form: the same form sent twice is one checkout. */
  readonly formKeyHash: string
  readonly coin: Coin
  /** The chain as the operator named it: "Bitcoin". */
  readonly network: string
  /** The address that the buyer gave for refunds. Empty once erased, if nothing went back. */
  readonly refundTo: string
  readonly amount: Usdc
  readonly startedAt: Date
  readonly changedAt: Date
}

interface Invoiced extends Begun {
  readonly invoice: Invoice
  readonly returns: readonly Return[]
  /** When the operator was told that a payment waits too long for its confirmations. */
  readonly toldAt?: Date
  /** Other invoices were made for it and shown to nobody. They are to be ended. */
  readonly hasOthers?: true
  /** Since when the processor does not know the invoice any more; the operator was told then. */
  readonly goneAt?: Date
  /** Since when the invoice cannot be read, and when the operator was told so. */
  readonly unreadSince?: Date
  readonly unreadToldAt?: Date
  /** Set when no more money can arrive and every return is confirmed. */
  readonly closedAt?: Date
}

/** If its invoice is paid in full and in time, it opens the order. All other money is returned from here. */
export type Checkout =
  /** The processor may have been asked for the invoice. */
  | (Begun & {
      readonly state: 'OPENING'
      /** Why it will be refused, as soon as the invoices that were made in vain are ended. */
      readonly refusal?: { readonly code: string; readonly reason: string }
    })
  /** No invoice was shown to anybody, so nobody can have paid one. */
  | (Begun & { readonly state: 'REFUSED'; readonly code: string; readonly reason: string })
  | (Invoiced & { readonly state: 'OPEN' })
  /** Paid: the price belongs to the order, for good. */
  | (Invoiced & {
      readonly state: 'ORDERED'
      readonly isPlaced: boolean
      /** How much of the confirmed money is the price; decided with the state. */
      readonly price: bigint
    })
  /** Not paid in full and in time: whatever it receives goes back, for good. */
  | (Invoiced & { readonly state: 'ENDED' })

export type CheckoutState = Checkout['state']
export type CheckoutIn<S extends CheckoutState> = Extract<Checkout, { state: S }>
export type InvoicedCheckout = CheckoutIn<'OPEN' | 'ORDERED' | 'ENDED'>

export function isInvoiced(checkout: Checkout): checkout is InvoicedCheckout {
  return 'invoice' in checkout
}

export function isClosed(checkout: Checkout): boolean {
  return checkout.state === 'REFUSED' || (isInvoiced(checkout) && checkout.closedAt !== undefined)
}

/** How long after `watchedUntil` a payment may still be confirmed. Some never are. */
const maxUnconfirmedMs = 3 * 86_400_000

export function isWatched(
  { watchedUntil, payments }: Invoice,
  now: Date,
  isDenied = false,
): boolean {
  if (now < watchedUntil) return true
  const isExpected = isDenied || payments.some(({ status }) => status === 'PROCESSING')
  return isExpected && now.getTime() < watchedUntil.getTime() + maxUnconfirmedMs
}

/** Where late payments are not seen, the address is kept only for a buyer who has not paid and may pay late. */
export function isOver(
  { state, coin, invoice }: InvoicedCheckout,
  now: Date,
  isDenied: boolean,
): boolean {
  const isFree = state === 'ORDERED' && !coinAbilities[coin].isSeenLate
  const watchedUntil = isFree ? invoice.expiresAt : invoice.watchedUntil
  return !isWatched({ ...invoice, watchedUntil }, now, isDenied)
}

export function settledUnits({ payments }: Pick<Invoice, 'payments'>): bigint {
  return settledPayments({ payments }).reduce((sum, { units }) => sum + units, 0n)
}

export function settledPayments({
  payments,
}: Pick<Invoice, 'payments'>): readonly InvoicePayment[] {
  return payments
    .filter(({ status }) => status === 'SETTLED')
    .toSorted((one, other) => one.receivedAt.getTime() - other.receivedAt.getTime())
}

export function seenUnits({ payments }: Pick<Invoice, 'payments'>): bigint {
  return payments.reduce((sum, { status, units }) => (status === 'INVALID' ? sum : sum + units), 0n)
}

/** How much of the price may be missing, in percent: a store at BTCPay may accept a little less. */
const tolerance = 5n

export function isPaid(invoice: Pick<Invoice, 'payments' | 'units'>): boolean {
  return settledUnits(invoice) * 100n >= invoice.units * (100n - tolerance)
}

/** How much of the confirmed money is the price if the order is opened now; the rest goes back. */
export function priceIn(invoice: Invoice): bigint {
  const settled = settledUnits(invoice)
  if (settled < invoice.units) return settled
  return invoice.units
}

export function priceUnits(checkout: InvoicedCheckout): bigint {
  return checkout.state === 'ORDERED' ? checkout.price : 0n
}

/** What an amount of the coin is worth at the rate of its invoice, rounded up; atomic USDC. */
export function worthOf({ amount, invoice }: InvoicedCheckout, units: bigint): Usdc {
  return ((units * amount + invoice.units - 1n) / invoice.units) as Usdc
}

export function withReturn<C extends InvoicedCheckout>(
  checkout: C,
  seq: number,
  payout: Payout,
): C {
  const returns = checkout.returns.map((one) => (one.seq === seq ? stepped(one, payout) : one))
  return { ...checkout, returns }
}

function stepped(one: Return, payout: Payout): Return {
  const isTried = payout.state === 'APPROVED' || (payout.state === 'DUE' && mayBePaid(one))
  return { ...one, payout, ...(isTried && { isTried }) }
}

/** Whether the processor or an operator may have paid it, or may do so at any time. */
export function mayBePaid({ payout, isTried }: Return): boolean {
  return isTried === true || payout.state !== 'DUE'
}

/** Nothing is owed for it: its money was denied before anybody could pay it. */
export function isVoid({ payout }: Return): boolean {
  return payout.state === 'FAILED' && payout.code === paymentVanished
}

export type ReturnUnderWay = Return & { readonly payout: PayoutIn<'DUE' | 'APPROVED'> }

export function isUnderWay(one: Return): one is ReturnUnderWay {
  return one.payout.state === 'DUE' || one.payout.state === 'APPROVED'
}

export function signedReturn(
  checkout: InvoicedCheckout,
  { seq, units }: Pick<Return, 'seq' | 'units'>,
): InvoiceRefund {
  const { id, coin, network, refundTo, invoice } = checkout
  return {
    method: 'btcpay',
    invoice: invoice.id,
    network,
    to: payerOf(coin, refundTo),
    amount: worthOf(checkout, units),
    reference: returnReference(id, seq),
    units,
  }
}

export function returnReference(id: CheckoutId, seq: number): string {
  return `${id}-${seq}`
}

export function returnOfReference(
  reference: string,
): { readonly id: CheckoutId; readonly seq: number } | undefined {
  const [, id = '', seq = ''] = /^(chk_\w{26})-([1-9]\d{0,5})$/.exec(reference) ?? []
  return isCheckoutId(id) ? { id, seq: Number(seq) } : undefined
}

/** Whether a store gives the reference to a payout: a refund or goodwill of an order, or a return of a checkout. */
export function namesPayout(reference: string): boolean {
  const isOfOrder = isOrderId(reference) || orderOfGoodwill(reference) !== undefined
  return isOfOrder || returnOfReference(reference) !== undefined
}

/** In units of the coin; the five sum to zero. `kept`: sending it would cost more than it is worth. */
export const checkoutAccounts = ['received', 'price', 'due', 'returned', 'kept'] as const
export type CheckoutAccount = (typeof checkoutAccounts)[number]

type CheckoutEntry = Entry<CheckoutAccount>

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
