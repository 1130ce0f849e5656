import type { CheckoutId, OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import type { AdvanceDeps } from '../orders/advance.ts'
import type { Allowance } from '../orders/ports.ts'
import type { Step, WorkflowStore } from '../orders/workflow.ts'
import type { Coin } from '../payments/coins.ts'
import type { PaidBack } from '../payments/ports.ts'
import type { Checkout, CheckoutIn, CheckoutState, Invoice } from './checkout.ts'

/** A coin to pay in, and the name of its chain, as people know it. */
export interface PaymentMethod {
  readonly coin: Coin
  /** "Bitcoin", "Ethereum", "Tron": what a wallet must be set to. */
  readonly network: string
}

/** The invoice that a checkout needs. One checkout has one invoice. */
export interface WantedInvoice {
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

/** A payout in a coin. Its reference is ours and never changes. */
export interface CoinPayout {
  readonly reference: string
  readonly coin: Coin
  /** The chain of the buyer's address, as in `PaymentMethod`. It is never paid on another one. */
  readonly network: string
  readonly to: string
  readonly units: bigint
}

/** The payment processor that takes coins for us: BTCPay Server. */
export interface Processor {
  /** The coins that can be paid in, as the operator configured them. */
  readonly methods: readonly PaymentMethod[]
  /**
   * Whether it sends the coin by itself, as it said last; false until it has said so. Otherwise an operator
   * sends the refunds.
   */
  sends(coin: Coin): boolean
  /** Makes the invoice, or finds the one that was made before. Safe to repeat. */
  open(wanted: WantedInvoice): Promise<InvoiceOpened>
  /**
   * Ends the invoices of a checkout, except the one that its buyer was shown, so that their addresses are free
   * again. A few at a time.
   *
   * @returns whether none is left
   */
  endOthers(checkout: CheckoutId, shown: string | undefined): Promise<boolean>
  read(invoice: string, coin: Coin): Promise<InvoiceRead>
  /**
   * Sends money to a buyer. Safe to repeat: one reference pays once, even if an answer is lost. `blocked` with
   * `operator_pays` if the processor cannot send the coin by itself.
   */
  payOut(payout: CoinPayout): Promise<PaidBack>
}

/** The bound on unpaid checkouts that a new checkout counts towards. */
export interface UnpaidBound {
  /** Keyed digest. */
  readonly client: string
  /** How many of the client's checkouts in the same coin may be unpaid at once, with the new one. */
  readonly most: number
  /**
   * The states that count as unpaid; a checkout whose payment is not confirmed yet does not count. One that was
   * refused within the last hour counts too, because the processor was asked for its invoices all the same.
   */
  readonly states: readonly CheckoutState[]
}

/** A checkout was not opened, because its client has too many unpaid ones. */
export class TooManyUnpaid extends Error {
  readonly unpaid: number

  constructor(unpaid: number) {
    super(`${unpaid} unpaid checkouts of one client are open`)
    this.name = 'TooManyUnpaid'
    this.unpaid = unpaid
  }
}

/** The record of all checkouts. Every write also appends to the checkout's history. */
export interface CheckoutStore extends WorkflowStore<Checkout> {
  /**
   * Saves a new checkout, leased to the caller, or returns the one that the same form began before.
   *
   * @throws TooManyUnpaid when the bound does not allow a new one; then nothing was written
   */
  open(
    checkout: CheckoutIn<'OPENING'>,
    bound?: UnpaidBound,
  ): Promise<{ readonly isNew: boolean; readonly checkout: Checkout }>
  /** Makes the checkout of this invoice due now, because something may have happened to it. */
  hasten(invoice: string): Promise<void>
  /** Leases unfinished checkouts that are due and whose last lease ended, to this caller alone. */
  claimDue(limit: number): Promise<readonly Checkout[]>
  find(id: CheckoutId): Promise<Checkout | undefined>
  findByOrder(id: OrderId): Promise<Checkout | undefined>
  findByTransaction(hash: string): Promise<Checkout | undefined>
  /** A checkout whose invoice is paid at this address. */
  findByAddress(address: string): Promise<Checkout | undefined>
  /**
   * The checkout that is not closed and whose buyer was shown this address: what it receives is that buyer's. No
   * other checkout can get an invoice with this address.
   */
  holderOf(coin: Coin, address: string): Promise<Checkout | undefined>
  /** Erases the personal fields of checkouts that ended before then. Returns how many; fewer once told to stop. */
  erasePersonal(endedBefore: Date, signal?: AbortSignal): Promise<number>

  /**
   * Deletes checkouts that closed before then, at least 90 days ago, and that nobody ever paid. Returns how
   * many; fewer once told to stop.
   */
  forgetNeverPaid(endedBefore: Date, signal?: AbortSignal): Promise<number>
}

/** All checkouts in numbers, at one moment. */
export interface CheckoutFacts {
  /** Those that are not closed; a state without any may be missing. */
  readonly openByState: Readonly<Partial<Record<CheckoutState, number>>>
  readonly returnsPending: number
  /** Those that wait for an operator. */
  readonly returnsFailed: number
  /** When the oldest return was decided that is not sent; undefined without any. */
  readonly oldestReturnSince: Date | undefined
  /** Payouts at the processor, also for orders, that were reported as waiting too long. */
  readonly payoutsLate: number
  /** Returns granted in the last hour and in the last day, which their caps count. */
  readonly returnsGranted: { readonly hour: Usdc; readonly day: Usdc }
}

/** The processor's own ids of everything that was seen there under one of our references. */
export interface SeenPayout {
  readonly pullPayments: readonly string[]
  readonly payouts: readonly string[]
}

/**
 * The store's own record of payouts at the processor. A payout that was seen there and is gone may have been
 * sent, because a processor that was restored from a backup has forgotten it.
 */
export interface PayoutRecord {
  /** What was seen under this reference; two empty lists if nothing was. */
  find(reference: string): Promise<SeenPayout>
  /** Adds what was seen now; nothing is ever removed. */
  keep(reference: string, seen: SeenPayout): Promise<void>
  /**
   * Notes that a payout waits.
   *
   * @returns whether it has waited for that long; true only once
   */
  waits(reference: string, longMs: number): Promise<boolean>
  /** Notes that it does not wait any more. */
  rests(reference: string): Promise<void>
}

/** Payouts that an operator made by hand, because neither the store nor the processor could. */
export interface HandPayouts {
  /** The transaction that the operator noted for this payout. */
  find(reference: string): Promise<string | undefined>
}

const unconfigured = { reason: 'no payment processor is configured' }

/** The processor of a store that takes no coins: nothing can be opened, and earlier checkouts wait. */
export const noProcessor: Processor = {
  methods: [],
  sends: () => false,
  open: async () => ({ outcome: 'unknown', ...unconfigured }),
  endOthers: async () => false,
  read: async () => ({ outcome: 'unknown', ...unconfigured }),
  payOut: async () => ({ outcome: 'pending', ...unconfigured }),
}

/** What operators need to know about checkouts. None of it contains personal fields or addresses. */
export type CheckoutEvent =
  /** Money that goes back and that an operator must act on; the reason is a code. */
  | {
      readonly name: 'return_failed'
      readonly checkout: CheckoutId
      readonly seq: number
      readonly reason: string
    }
  /** Money that goes back waits, because refunds are stopped or a cap is reached. */
  | {
      readonly name: 'return_held'
      readonly checkout: CheckoutId
      readonly seq: number
      readonly reason: Exclude<Allowance, 'granted' | 'over_cap'>
    }
  /**
   * The processor made an invoice with an address that another checkout still has. That invoice is shown to
   * nobody; what the address receives belongs to the other buyer.
   */
  | {
      readonly name: 'address_taken'
      readonly checkout: CheckoutId
      readonly coin: Coin
      readonly holder: CheckoutId
    }
  /** The payout of a return or of a refund has waited at the processor for hours; told once. */
  | { readonly name: 'payout_waits'; readonly payout: string; readonly reason: string }
  /** A payment has not got its confirmations for a day. */
  | { readonly name: 'payment_unconfirmed'; readonly checkout: CheckoutId }
  /** The processor does not know the invoice of a checkout any more that is not closed; told once. */
  | { readonly name: 'invoice_gone'; readonly checkout: CheckoutId }
  /** An invoice could not be read for an hour: no answer, or none that is understood; told once. */
  | { readonly name: 'invoice_unread'; readonly checkout: CheckoutId }
  /** The processor does not show a payment any more that it had called settled. */
  | { readonly name: 'settled_payment_gone'; readonly checkout: CheckoutId }
  /** Working on a checkout threw: a defect, or a part of the store that is down. */
  | {
      readonly name: 'checkout_step_failed'
      readonly checkout: CheckoutId
      readonly error: unknown
    }

export type CheckoutReporter = (event: CheckoutEvent) => void

/** What a step of a checkout may use: also everything that carries its order on. */
export interface CheckoutStepDeps extends AdvanceDeps {
  readonly checkouts: CheckoutStore
  readonly processor: Processor
  readonly hands: HandPayouts
  readonly reportCheckout: CheckoutReporter
}

/** The one next thing for a checkout. */
export type CheckoutStep = Step<Checkout>
