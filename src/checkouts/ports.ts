import type { CheckoutId, OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import type { AdvanceDeps } from '../orders/advance.ts'
import type { FoundBy } from '../orders/finding.ts'
import type { Step, WorkflowStore } from '../orders/workflow.ts'
import type { BtcpayMethod } from '../payments/btcpay-methods.ts'
import type { Coin } from '../payments/coins.ts'
import type { PaidBack } from '../payments/payment.ts'
import type { Checkout, CheckoutIn, CheckoutState, Invoice } from './checkout.ts'

export type PaymentMethod = Omit<BtcpayMethod, 'id'>

export interface InvoiceRequest {
  readonly checkout: CheckoutId
  readonly order: OrderId
  readonly amount: Usdc
  readonly coin: Coin
  /** Whether another checkout has this address. An invoice with such an address is not used. */
  readonly isTaken?: (address: string) => Promise<boolean>
  /** Finds the invoice that was made before, and makes none: `refused` if there is none. */
  readonly onlyFinds?: boolean
}

export type InvoiceOpened =
  | {
      readonly outcome: 'open'
      readonly invoice: Invoice
      /** The checkout has other invoices, shown to nobody, that `endOthers` ends. */
      readonly hasOthers: boolean
    }
  /** Every address so far was taken, and there may be more. Another call goes on with the search. */
  | { readonly outcome: 'searching' }
  /** Proven: this checkout has no invoice, and will have none. */
  | { readonly outcome: 'refused'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string }

export type InvoiceRead =
  | { readonly outcome: 'found'; readonly invoice: Invoice }
  | {
      readonly outcome: 'unknown'
      readonly reason: string
      /** The processor answers, and does not know the invoice: it has lost it, or is another one. */
      readonly isGone?: true
    }

export interface CoinPayout {
  readonly reference: string
  readonly coin: Coin
  /** The chain of the buyer's address, as in `PaymentMethod`. It is never paid on another one. */
  readonly network: string
  readonly to: string
  readonly units: bigint
}

export interface Processor {
  readonly methods: readonly PaymentMethod[]
  /** Whether it sends the coin by itself, as it said last. Otherwise an operator sends the refunds. */
  sends(coin: Coin): boolean
  /** Makes the invoice, or finds the one that was made before. Safe to repeat. */
  openInvoice(request: InvoiceRequest): Promise<InvoiceOpened>
  /** Ends invoices of a checkout, except the one that was shown, a few at a time. Returns whether none is left. */
  endOthers(checkout: CheckoutId, except: string | undefined): Promise<boolean>
  read(invoice: string, coin: Coin): Promise<InvoiceRead>
  /** Safe to repeat: one reference pays once. `operator_pays` if the processor cannot send the coin by itself. */
  payOut(payout: CoinPayout): Promise<PaidBack>
}

/** The bound on unpaid checkouts that a new checkout counts towards. */
export interface UnpaidBound {
  /** Keyed digest. */
  readonly client: string
  /** How many of the client's checkouts in the same coin may be unpaid at once, with the new one. */
  readonly most: number
  /** A checkout that was refused within the last hour counts too: the processor was asked for invoices all the same. */
  readonly states: readonly CheckoutState[]
}

export class TooManyUnpaid extends Error {
  readonly unpaid: number

  constructor(unpaid: number) {
    super(`${unpaid} unpaid checkouts of one client are open`)
    this.unpaid = unpaid
  }
}

/** The record of all checkouts. Every write also appends to the checkout's history. */
export interface CheckoutStore extends WorkflowStore<Checkout> {
  /** Saves a new checkout, leased to the caller, or returns the one of the same form. @throws TooManyUnpaid */
  open(
    checkout: CheckoutIn<'OPENING'>,
    bound?: UnpaidBound,
    foundBy?: FoundBy,
  ): Promise<{ readonly isNew: boolean; readonly checkout: Checkout }>
  hasten(invoice: string): Promise<void>
  claimDue(limit: number): Promise<readonly Checkout[]>
  find(id: CheckoutId): Promise<Checkout | undefined>
  findByOrder(id: OrderId): Promise<Checkout | undefined>
  findByTransaction(hash: string): Promise<Checkout | undefined>
  findByAddress(address: string): Promise<Checkout | undefined>
  /** The checkout that is not closed and whose buyer was shown this address. No other can get it in an invoice. */
  holderOf(coin: Coin, address: string): Promise<Checkout | undefined>
  /** Erases the personal fields of checkouts that ended before then. Returns how many; fewer once told to stop. */
  erasePersonal(endedBefore: Date, signal?: AbortSignal): Promise<number>

  /** Deletes checkouts that closed before then, at least 90 days ago, and that nobody ever paid. */
  forgetNeverPaid(endedBefore: Date, signal?: AbortSignal): Promise<number>
}

export interface CheckoutFacts {
  /** Those that are not closed; a state without any may be missing. */
  readonly openByState: Readonly<Partial<Record<CheckoutState, number>>>
  readonly returnsFailed: number
  /** When the oldest return was decided that is not sent; undefined without any. */
  readonly oldestReturnSince: Date | undefined
  /** Payouts at the processor, also for orders, that were reported as waiting too long. */
  readonly payoutsLate: number
}

export interface SeenPayout {
  /** The one that was chosen to be claimed from. */
  readonly pullPayment: string | null
  readonly payouts: readonly string[]
}

/** What was seen at the processor and is gone may have been sent: a restored processor has forgotten it. */
export interface PayoutRecord {
  find(reference: string): Promise<SeenPayout>
  /** Chooses a pull payment for good. Returns the choice, which another node may have made before. */
  choose(reference: string, pullPayment: string): Promise<string>
  keep(reference: string, payouts: readonly string[]): Promise<void>
  /** Notes that a payout waits. True only once: when it has waited for that long. */
  waits(reference: string, longMs: number): Promise<boolean>
  rests(reference: string): Promise<void>
}

export interface HandPayouts {
  find(reference: string): Promise<string | undefined>
}

const unconfigured = { reason: 'no payment processor is configured' }

/** The processor of a store that takes no coins: nothing can be opened, and earlier checkouts wait. */
export const noProcessor: Processor = {
  methods: [],
  sends: () => false,
  openInvoice: async () => ({ outcome: 'unknown', ...unconfigured }),
  endOthers: async () => false,
  read: async () => ({ outcome: 'unknown', ...unconfigured }),
  payOut: async () => ({ outcome: 'pending', ...unconfigured }),
}

/** `operations/reporter.ts` explains the events. None of them contains personal fields or addresses. */
export type CheckoutEvent =
  | {
      readonly name: `return_${'failed' | 'held'}`
      readonly checkout: CheckoutId
      readonly seq: number
      readonly reason: string
    }
  | {
      readonly name: 'address_taken'
      readonly checkout: CheckoutId
      readonly coin: Coin
      readonly holder: CheckoutId
    }
  | { readonly name: 'payout_waits'; readonly payout: string; readonly reason: string }
  | {
      readonly name:
        | 'payment_unconfirmed'
        | 'invoice_gone'
        | 'invoice_unread'
        | 'settled_payment_gone'
      readonly checkout: CheckoutId
    }
  | {
      readonly name: 'checkout_step_failed'
      readonly checkout: CheckoutId
      readonly error: unknown
    }

export type CheckoutReporter = (event: CheckoutEvent) => void

export interface CheckoutStepDeps extends AdvanceDeps {
  readonly checkouts: CheckoutStore
  readonly processor: Processor
  readonly hands: HandPayouts
  readonly reportCheckout: CheckoutReporter
}

export type CheckoutStep = Step<Checkout>
