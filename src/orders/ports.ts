import type { Kind } from '../catalog/offer.ts'
import type { FundsRefusal } from '../health/funds.ts'
import type { OrderId, PaymentId } from '../lib/ids.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import type { Payment } from '../payments/payment.ts'
import type { Sealed } from '../secrets/vault.ts'
import type { BudgetRules, Risk, Spent, Subjects } from './budgets.ts'
import type { In, Order, State } from './order.ts'
import type { LimitName, Spend, WalletLimits } from './spending-limits/rules.ts'
import type { NewWebhook, WebhookState } from './webhooks/ports.ts'
import type { WorkflowStore } from './workflow.ts'

/** The order that was just opened, or the one that holds the same payment or key already. */
export interface Opened {
  readonly isNew: boolean
  readonly order: Order
  /** Whether its webhook gets anything, where it was just opened with one. */
  readonly webhook?: WebhookState
}

/** What an order is opened with besides its keys. */
export interface OpenedFor {
  /** Digest of whom the goods go to, for the limits of the payer; it is not kept. */
  readonly recipient?: string | undefined
  /** Whom it counts for, and how many orders of theirs may come to nothing. */
  readonly counted?: Counted | undefined
  /** Where its states go. A payer who has too many gets the order, and a webhook that gets nothing. */
  readonly webhook?: NewWebhook | undefined
}

export interface OrderPage {
  readonly total: number
  readonly items: readonly Order[]
}

/** The record of all orders. Every write also appends to the order's history. */
export interface OrderStore extends WorkflowStore<Order> {
  /**
   * Saves a new order, leased to the caller, in one statement. One payment opens one order, and a
   * key that the payer used before keeps its order: whoever comes second gets that order as it
   * stands, with `isNew` false, and must leave it alone.
   *
   * @param keys SHA-256 of the idempotency keys sent along
   * @throws LimitReached when the payer's limits do not allow it; then nothing was written
   * @throws BudgetSpent when too many of theirs came to nothing; then nothing was written
   */
  open(order: In<'PAYMENT_PENDING'>, keys: readonly string[], opened?: OpenedFor): Promise<Opened>

  /**
   * A budget that these have spent by now: of several, the one that is spent for longest; or else the
   * share of the float that a purchase would exceed.
   */
  spentBudget(
    subjects: Subjects,
    rules: BudgetRules,
    now: Date,
    risk?: Risk,
  ): Promise<Spent | undefined>

  /** Makes the order due now, because something may have happened to it. */
  hasten(id: OrderId): Promise<void>

  /**
   * Leases unfinished orders that are due and whose last lease ended, to this caller alone.
   *
   * @param rail only orders that were paid in this way
   */
  claimDue(limit: number, rail?: Payment['rail']): Promise<readonly Order[]>

  /** @throws Refusal `order_not_found`, which says so, for one that was archived */
  find(id: OrderId): Promise<Order | undefined>
  /** @throws Refusal as `find` */
  findByPaymentId(id: PaymentId): Promise<Order | undefined>
  /** @throws Refusal as `find` */
  findByTransaction(hash: string): Promise<Order | undefined>
  /**
   * @param paymentKey see `paymentKeyOf`
   * @throws Refusal `payment_reused` where the order that it opened was archived
   */
  findByPayment(paymentKey: string): Promise<Order | undefined>
  /** The order that this payer opened with this key, by the key's SHA-256. */
  findByKey(payer: string, key: string): Promise<Order | undefined>
  /** Whether this order was opened with one of these keys. */
  hasKey(id: OrderId, keys: readonly string[]): Promise<boolean>

  /** The payer's orders, newest first. */
  listByPayer(payer: string, page: OrderPageRequest): Promise<OrderPage>

  /** Whether this payer was delivered the eSIM with this ICCID here. */
  boughtIccid(payer: string, iccidDigest: string): Promise<boolean>

  /**
   * Keeps a claim for the refund of an order as it was read, if it is new and within the budgets.
   *
   * @param rules how many claims an order and a client have in an hour
   */
  claimRefund(
    order: Pick<Order, 'id' | 'version'>,
    claim: KeptClaim,
    rules: BudgetRules,
  ): Promise<ClaimUse>

  /** Erases the personal fields of orders that ended before then. Returns how many; fewer once told to stop. */
  erasePersonal(endedBefore: Date, signal?: AbortSignal): Promise<number>

  /**
   * Forgets orders that ended before then, a day ago or earlier, whose payment is proven to have failed
   * and that never moved any money, with all that is kept of them. Returns how many; fewer once told to stop.
   */
  forgetNeverPaid(endedBefore: Date, signal?: AbortSignal): Promise<number>

  /** Forgets claims, and idempotency keys of finished orders, of before then. Returns as `erasePersonal`. */
  forgetKeys(usedBefore: Date, signal?: AbortSignal): Promise<number>
}

/** An order was not opened, because its payer has set a limit that does not allow it. */
export class LimitReached extends Error {
  readonly limit: LimitName

  constructor(limit: LimitName) {
    super(`The limits of the payer do not allow the order: ${limit}`)
    this.name = 'LimitReached'
    this.limit = limit
  }
}

/** A request with a payment is answered in this time, or its order is on record; milliseconds. */
export const maxConsideredMs = 60_000

export interface Reservation {
  /** The digest of the request that the payment is reserved for. */
  readonly request: string
  /** Tells this request from all equal ones; null where the payment is reserved for another. */
  readonly mark: string | null
}

/**
 * Which request each payment came with, from before anybody outside sees the payment
 * (docs/contributors/decisions/016).
 */
export interface ReservationStore {
  /**
   * Reserves a payment for a request, unless it is reserved already. A reservation that the payer's
   * own key is known to have signed takes the place of one that is not.
   *
   * @param request digest of what is asked for
   */
  reserve(paymentKey: string, request: string, isSigned: boolean): Promise<Reservation>
  /** Says that the request with this mark opens no order. */
  release(paymentKey: string, mark: string): Promise<void>
  /**
   * Whether a request for which this payment is reserved came so lately that it may be considered
   * still, and has not said that it opens no order.
   */
  isConsidered(paymentKey: string): Promise<boolean>
  /** Forgets what was reserved before then. Returns how many; fewer once told to stop. */
  forget(reservedBefore: Date, signal?: AbortSignal): Promise<number>
}

/** What a person is asked to approve: exactly one purchase by one wallet (docs/contributors/decisions/020). */
export interface Approval {
  readonly id: string
  /** SHA-256 of the token that opens its page. */
  readonly tokenHash: string
  readonly payer: string
  /** Keyed digest of what is asked for, as an order has it. */
  readonly purchase: string
  /** The price when it was asked for. */
  readonly amount: Usdc
  /** The most that the purchase may cost: the maximum that the buyer named, or else the price. */
  readonly most: Usdc
  /** What is bought, in words. */
  readonly bought: Sealed
  readonly decision?: 'APPROVED' | 'DECLINED'
  readonly endsAt: Date
  /** The order that it was used for. */
  readonly usedBy?: OrderId
}

/** A purchase that a person may have approved. */
interface ApprovedPurchase {
  /** In lower case. */
  readonly payer: string
  /** Keyed digest of what is asked for. */
  readonly purchase: string
  readonly amount: Usdc
}

/** What persons were asked to approve, and what they said (docs/contributors/decisions/020). */
export interface ApprovalStore {
  /**
   * The approval that this payer is waiting for with this purchase at this price, or that was declined:
   * what is kept already, or else this new one, which is kept then.
   */
  ask(wanted: Approval, now: Date): Promise<Approval>
  /** By the SHA-256 of its token. */
  find(tokenHash: string): Promise<Approval | undefined>
  /**
   * Keeps what a person said, once. False: there is nothing to decide any more.
   *
   * @param endsAt until when it may be used, or was declined
   */
  decide(
    tokenHash: string,
    said: { readonly decision: 'APPROVED' | 'DECLINED'; readonly now: Date; readonly endsAt: Date },
  ): Promise<boolean>
  /**
   * Uses an approval for the payment of this order. True when there is one: of the same payer and
   * purchase, for no less than this amount, not over, and not used for another order.
   */
  use(bought: ApprovedPurchase, order: OrderId, now: Date): Promise<boolean>
  /** Forgets what ended before then. Returns how many. */
  forget(endedBefore: Date): Promise<number>
}

/** What is kept of a claim. */
export interface KeptClaim {
  /** SHA-256 of its idempotency key. */
  readonly key: string
  /** SHA-256 of its body. */
  readonly bodyHash: string
  /** Keyed digest of the client that sent it. */
  readonly client?: string | undefined
}

/**
 * What a claim is to its order: `fresh` until the order has moved on since the claim was kept, and `used`
 * from then on; its key with another body; or one too many, which is not kept.
 */
export type ClaimUse = 'fresh' | 'used' | 'other_body' | Spent

/** Whom an order counts for, and the budgets that they have; without any it is only counted. */
export interface Counted {
  readonly subjects: Subjects
  readonly rules?: BudgetRules
  /** What the refund wallet holds; undefined where it would not pay the order back. */
  readonly float?: Usdc | undefined
}

/** An order was not opened, because too many before it came to nothing. */
export class BudgetSpent extends Error {
  readonly spent: Spent

  constructor(spent: Spent) {
    super(`A budget is spent: ${spent.budget} of the ${spent.whose}`)
    this.name = 'BudgetSpent'
    this.spent = spent
  }
}

/** The limits of a wallet, and the name of the write that made them. */
export interface StoredLimits {
  readonly limits: WalletLimits
  readonly revision: string
}

/** The limits that wallets set themselves. `OrderStore.open` holds every new order to them. */
export interface LimitStore {
  /** Undefined where the wallet has none. */
  find(wallet: string): Promise<StoredLimits | undefined>

  /**
   * Puts these limits in the place of those that were read; undefined in either place is none.
   * Orders that are being opened for the wallet come before it or after it.
   *
   * @returns whether that was done: false when somebody else changed them since
   */
  replace(
    wallet: string,
    read: StoredLimits | undefined,
    limits: WalletLimits | undefined,
  ): Promise<boolean>

  /** The wallet's orders placed after then that count: money that never came or came back does not. */
  spends(wallet: string, after: Date): Promise<readonly Spend[]>

  /** Forgets wallets whose last limit was lifted, and that is in force by now. Returns how many. */
  forgetLifted(now: Date): Promise<number>
}

/** All orders in numbers, at one moment. */
export interface OrderFacts {
  /** A state without orders may be missing. */
  readonly byState: Readonly<Partial<Record<State, number>>>
  /** How many orders ever came to an end, by that state; those too that are on record no more. */
  readonly ended: Readonly<Partial<Record<State, number>>>
  /** The age of the oldest order whose buyer waits for goods or money; undefined without any. */
  readonly oldestOpenSeconds: number | undefined
  readonly refundsPending: number
  readonly refundsFailed: number
  /** What was paid for orders that are neither delivered nor refunded. */
  readonly exposure: Usdc
  /** Whether an operator has stopped all refunds. */
  readonly refundsStopped: boolean
  /** Refunds granted in the last hour and in the last day, which their caps count. */
  readonly granted: { readonly hour: Usdc; readonly day: Usdc }
}

/** What is open at one moment: what the store has to know before it sells more. */
export interface OpenFacts {
  /** What was paid in USDC for orders that are neither delivered nor refunded. */
  readonly exposure: Usdc
  /** By the supplier that the goods are bought from; one without any may be missing. */
  readonly suppliers: ReadonlyMap<string, OpenAtSupplier>
  /** Refunds under way. */
  readonly refunds: number
  /** Orders of the last hour that their supplier refused for want of funds, by its references. */
  readonly fundsRefusals: readonly (FundsRefusal & { readonly supplier: string })[]
}

export interface OpenAtSupplier {
  /** What the orders cost whose payment in USDC is under way. */
  readonly pending: Usdc
  /** What the orders cost that the supplier may still take money for, and checkouts that are paid. */
  readonly committed: Usdc
  /** What the checkouts cost that are paid with a payment that is not confirmed. */
  readonly unconfirmed: Usdc
}

export const nothingOpen: OpenAtSupplier = {
  pending: usdc(0n),
  committed: usdc(0n),
  unconfirmed: usdc(0n),
}

export interface OrderPageRequest {
  readonly kind?: Kind
  readonly limit: number
  readonly offset: number
}

/**
 * Whether a payout may be made: yes, not now, or never without an operator. `over_cap` is a single
 * refund above the cap of an hour or a day, which no waiting brings under it. `payer_share` is one that
 * would leave too little for other payers and clients, or for a refund that has waited for long.
 */
export type Allowance = 'granted' | 'stopped' | 'hour_cap' | 'day_cap' | 'payer_share' | 'over_cap'

/** What bounds the loss when everything else has failed: caps, and a switch that stops all payouts. */
export interface PayoutLimits {
  /**
   * Grants a payout, on record and before it is signed. What was granted once counts towards the caps
   * once and stays granted, unless refunds are stopped. Refunds of orders and returns of checkouts have
   * caps of their own, equally high: anybody can cause returns, and shall hold up no refund.
   *
   * @param reference the order, or the return of a checkout
   */
  allow(reference: string): Promise<Allowance>
}

/** Sign-in nonces that were used. One sign-in message is good for one use. */
export interface NonceStore {
  /** Whether this is the nonce's first use. */
  useOnce(nonce: string, expiresAt: Date): Promise<boolean>
}

/** Tells whoever waits for an order in this process that something may have happened to it. */
export interface Notifier {
  notify(id: OrderId): void
  /** Ends after `ms`, or sooner when somebody notifies. */
  wait(id: OrderId, ms: number): Promise<void>
}
