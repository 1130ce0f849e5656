import type { OrderId } from '../primitives/ids.ts'
import type { Usdc } from '../primitives/money.ts'
import type { Receipt, SignedRefund, Tender } from './payment.ts'

/** Whether a tender would pay. Nothing is consumed by asking. */
export type Checked =
  /** `tender` is the one that was asked about, completed with what the rail needs to find it. */
  | { readonly outcome: 'good'; readonly tender: Tender }
  | { readonly outcome: 'bad'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** `failed` is proven: the money did not move and never will. Anything less is `unknown`. */
export type Collected =
  | { readonly outcome: 'settled'; readonly receipt: Receipt }
  | { readonly outcome: 'failed'; readonly code: string; readonly reason: string }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** Whether money that arrived can still vanish: a chain may drop its newest blocks. */
export type Standing = 'final' | 'not_yet' | 'gone' | 'unknown'

export type PaidBack =
  | { readonly outcome: 'paid'; readonly transaction: string }
  | { readonly outcome: 'pending'; readonly reason: string }
  /** The signature ran out unused; the same refund has to be signed again, with the same nonce. */
  | { readonly outcome: 'lapsed' }
  /** It cannot be paid until an operator does something. */
  | { readonly outcome: 'blocked'; readonly code: string; readonly reason: string }

export interface RefundDue {
  readonly order: OrderId
  /** The payer, never an address from a request. */
  readonly to: string
  readonly amount: Usdc
  /** The payment that goes back; its refund cannot have happened before it. */
  readonly since: Receipt
}

/**
 * What an index of paid resources is told of a sale, in the words of x402. A facilitator that keeps one
 * lists what is paid through it.
 */
export interface Listing {
  readonly resource: { readonly url: string; readonly description?: string }
  readonly extensions: Readonly<Record<string, unknown>>
}

/** One way of being paid and of paying back. */
export interface Rail {
  check(tender: Tender): Promise<Checked>
  /** Moves the buyer's money to us. Safe to repeat: one tender pays once. */
  collect(tender: Tender, listing?: Listing): Promise<Collected>
  standingOf(tender: Tender, receipt: Receipt): Promise<Standing>
  /** Signs the one refund this order can have. Sends nothing. */
  signRefund(due: RefundDue): Promise<SignedRefund>
  /** Pays a signed refund. Safe to repeat, by any node, after any crash. */
  payBack(refund: SignedRefund): Promise<PaidBack>
}

/** What the chain says of itself and of the store's wallets, at one moment. */
export interface ChainFacts {
  readonly headAt: Date
  /** When the newest block was made that cannot be dropped any more. */
  readonly safeHeadAt: Date
  /** What refunds are paid from. */
  readonly refundFloat: Usdc
  /** What transactions are sent with. */
  readonly gasWei: bigint
}

export type Rails = Readonly<Record<Tender['rail'], Rail>>
