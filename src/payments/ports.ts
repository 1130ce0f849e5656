import type { Usdc } from '../lib/money.ts'
import type {
  InvoiceReceipt,
  InvoiceRefund,
  PaidInvoice,
  Payment,
  Receipt,
  SignedRefund,
  X402Payment,
  X402Receipt,
  X402Refund,
} from './payment.ts'

export type Checked<T = X402Payment> =
  /** `payment` is the one that was asked about, completed with what the method needs to find it. */
  | {
      readonly outcome: 'good'
      readonly payment: T
      /** It has paid already: its money is here, whether or not its order is opened. */
      readonly hasLanded?: true
    }
  /** It has not paid, and will not as it is. */
  | { readonly outcome: 'bad'; readonly code: string; readonly reason: string }
  | {
      readonly outcome: 'unknown'
      readonly reason: string
      /** `no` only if nobody outside has seen the payment, and it cannot have been used before. */
      readonly charged: 'no' | 'unknown'
      /** The network fee is higher than the store pays; otherwise a part did not answer. */
      readonly isTooCostly?: boolean
    }

/** `failed` is proven: the money did not move and never will. Anything less is `unknown`. */
export type Collected<R = Receipt> =
  | { readonly outcome: 'settled'; readonly receipt: R }
  | ({ readonly outcome: 'failed'; readonly code: string; readonly reason: string } & Costs)
  | ({ readonly outcome: 'unknown'; readonly reason: string } & Costs)

interface Costs {
  /** How many transactions this call sent at the store's expense that moved no money. */
  readonly wasted?: number
}

export interface Collecting {
  readonly listing?: Listing | undefined
  /** Sends nothing, and only checks whether the money has arrived. */
  readonly onlyLooks?: boolean
}

/** Whether money that arrived can still vanish: a chain may drop its newest blocks. */
export type Confirmation = 'final' | 'not_yet' | 'gone' | 'unknown'

export type PaidBack =
  | { readonly outcome: 'paid'; readonly transaction: string }
  | { readonly outcome: 'pending'; readonly reason: string }
  /** The signature ran out unused; the same refund has to be signed again, with the same nonce. */
  | { readonly outcome: 'lapsed' }
  | {
      readonly outcome: 'blocked'
      readonly code: string
      readonly reason: string
      /** Once the obstacle is gone, anybody who has the signature can have it paid. */
      readonly mayStillPay?: true
    }

export interface RefundDue<T = Payment, R = Receipt> {
  readonly reference: string
  /** The payment that goes back, to its payer and never to an address from a request. */
  readonly payment: T
  /** The receipt of the payment: the refund cannot be earlier. */
  readonly since: R
}

/** What a facilitator is told about a sale for its index of paid resources, in the terms of x402. */
export interface Listing {
  readonly resource: { readonly url: string; readonly description?: string }
  readonly extensions: Readonly<Record<string, unknown>>
}

interface PaymentMethod<T, R, S> {
  /** Moves the buyer's money to us, or sees that it came. Safe to repeat: a payment moves money once. */
  collect(payment: T, how?: Collecting): Promise<Collected<R>>
  confirmationOf(payment: T, receipt: R): Promise<Confirmation>
  /** Decides the one payout of this name, in all its parts. Sends nothing. */
  signRefund(due: RefundDue<T, R>): Promise<S>
  /** Pays a signed refund. Safe to repeat, by any node, after any crash. */
  payBack(refund: S): Promise<PaidBack>
}

/** Authorizations of USDC, on the chain. */
export interface X402Method extends PaymentMethod<X402Payment, X402Receipt, X402Refund> {
  check(payment: X402Payment): Promise<Checked>
  /** Computed without asking anybody; the signature of a contract wallet gives false. */
  isSignedByPayer(payment: X402Payment): Promise<boolean>
  /** Whether the authorization has not been used, by one call to the chain; false if it does not answer. */
  isUnused(payment: X402Payment): Promise<boolean>
}
/** Invoices in other coins, at the payment processor. */
export type InvoiceMethod = PaymentMethod<PaidInvoice, InvoiceReceipt, InvoiceRefund>

export interface PaymentMethods {
  readonly x402: X402Method
  readonly btcpay: InvoiceMethod
}

/** The method of a payment, receipt or refund. Each names its own, so the types on both sides match. */
export function methodOf(
  methods: PaymentMethods,
  { method }: Pick<Payment, 'method'>,
): PaymentMethod<Payment, Receipt, SignedRefund> {
  return methods[method] as PaymentMethod<never, never, never> as PaymentMethod<
    Payment,
    Receipt,
    SignedRefund
  >
}

export interface ChainFacts {
  readonly headAt: Date
  /** The time of the newest block that can no longer be dropped. */
  readonly safeHeadAt: Date
  readonly refundFloat: Usdc
  readonly gasWei: bigint
}

const notConnected = 'Its network is not connected.'

/** A payment and its refund stay on their network. Nothing is known of one that is not connected: its orders wait. */
export function methodOfNetworks(chains: ReadonlyMap<string, X402Method>): X402Method {
  const on = ({ network }: { readonly network: string }) => chains.get(network)
  return {
    isSignedByPayer: async (payment) => (await on(payment)?.isSignedByPayer(payment)) ?? false,
    isUnused: async (payment) => (await on(payment)?.isUnused(payment)) ?? false,
    check: async (payment) =>
      (await on(payment)?.check(payment)) ?? {
        outcome: 'unknown',
        reason: notConnected,
        charged: 'unknown',
      },
    collect: async (payment, how) =>
      (await on(payment)?.collect(payment, how)) ?? { outcome: 'unknown', reason: notConnected },
    confirmationOf: async (payment, receipt) =>
      (await on(payment)?.confirmationOf(payment, receipt)) ?? 'unknown',
    async signRefund(due) {
      const chain = on(due.payment)
      if (!chain) throw new Error(`The network ${due.payment.network} is not connected`)
      return chain.signRefund(due)
    },
    payBack: async (refund) =>
      (await on(refund)?.payBack(refund)) ?? { outcome: 'pending', reason: notConnected },
  }
}
