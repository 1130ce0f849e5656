import type { Charge, Kind } from '../catalog/offer.ts'
import type { FundsRefusal } from '../health/health.ts'
import type { OrderId, PaymentId } from '../lib/ids.ts'
import { type Usdc, usdc } from '../lib/money.ts'
import type { Listing, Payment, PaymentMethods, Receipt } from '../payments/payment.ts'
import type { Sealed, Vault } from '../secrets/secrets.ts'
import type { Suppliers } from '../suppliers/supplier.ts'
import type { Denylist } from './denylist.ts'
import type { FindingDeps, FoundBy } from './finding.ts'
import type { In, Order, State } from './order.ts'
import type { Payout, PayoutLimits } from './payout.ts'
import type { NewWebhook, WebhookState } from './webhooks/ports.ts'
import type * as workflow from './workflow.ts'
import type { WorkflowStore } from './workflow.ts'

/** The order that was just opened, or the one that has the same payment or key already. */
export interface Opened {
  readonly isNew: boolean
  readonly order: Order
  readonly webhook?: WebhookState
}

export interface OpenedFor {
  /** Digests of all whom the goods reach, for the limits of the payer; not stored. */
  readonly recipients?: readonly string[]
  readonly counted?: Counted | undefined
  /** Where its states are sent. The webhook of a payer who has too many gets nothing; the order is opened. */
  readonly webhook?: NewWebhook | undefined
  readonly twins?: Twins | undefined
  /** SHA-256 of the address that holds the purchase: a key that all payers share. */
  readonly address?: string | undefined
  readonly foundBy?: FoundBy | undefined
}

/** By these the same purchase of the same wallet is known again: keyed digests of payer, goods and recipient. */
export interface Twins {
  /** Under each key of the store; the first is kept. */
  readonly digests: readonly string[]
  /** Whether the buyer says that it repeats no other purchase. If not, a twin of the last ten minutes stops it. */
  readonly isAnother: boolean
  /** The receiver (`soonAfter` in budgets.ts): goods of any wallet for it in the last two minutes stop the purchase. */
  readonly receivers?: readonly string[] | undefined
}

export interface OrderPage {
  readonly total: number
  readonly items: readonly Order[]
}

/** The record of all orders. Every write also appends to the order's history. */
export interface OrderStore extends WorkflowStore<Order> {
  /**
   * Saves a new order, leased to the caller, in one statement. One payment opens one order, and a key that the payer
   * used before keeps its order: a second caller gets it as it is, and must not work on it.
   *
   * @param keys SHA-256 of the idempotency keys sent along
   * @throws LimitReached, BudgetSpent, TwinFound; then nothing was written
   */
  open(order: In<'PAYMENT_PENDING'>, keys: readonly string[], opened?: OpenedFor): Promise<Opened>

  /** Of several spent budgets the one that stays spent for longest; or else the share of the float that is exceeded. */
  spentBudget(
    subjects: Subjects,
    rules: BudgetRules,
    now: Date,
    risk?: Risk,
  ): Promise<Spent | undefined>

  hasten(id: OrderId): Promise<void>

  /** Leases unfinished orders that are due and whose last lease ended, to this caller alone. */
  claimDue(limit: number, method?: Payment['method']): Promise<readonly Order[]>

  find(id: OrderId): Promise<Order | undefined>
  findByPaymentId(id: PaymentId): Promise<Order | undefined>
  findByTransaction(hash: string): Promise<Order | undefined>
  /** @param paymentKey see `paymentKeyOf` */
  findByPayment(paymentKey: string): Promise<Order | undefined>
  findByKey(payer: string, key: string): Promise<Order | undefined>
  /** The order with this key, if just one has it. */
  findOnlyByKey(key: string): Promise<Order | undefined>
  findByAddress(address: string): Promise<Order | undefined>
  hasKey(id: OrderId, keys: readonly string[]): Promise<boolean>
  /** Whether anybody bought for this receiver in the two minutes before. */
  hasJustReceived(receivers: readonly string[], at: Date): Promise<boolean>

  listByPayer(payer: string, page: OrderPageRequest): Promise<OrderPage>

  /** Who was delivered a plan on the eSIM with this ICCID here, and of which brand; the first first. */
  plansOf(
    iccidDigest: string,
  ): Promise<readonly { readonly payer: string; readonly brandName: string }[]>

  /** Stores a claim for the refund of an order as it was read, if it is new and within the budgets. */
  claimRefund(
    order: Pick<Order, 'id' | 'version'>,
    claim: StoredClaim,
    rules: BudgetRules,
  ): Promise<ClaimUse>

  /** Erases the personal fields of orders that ended before then. Returns how many; fewer once told to stop. */
  erasePersonal(endedBefore: Date, signal?: AbortSignal): Promise<number>

  /** Deletes orders that ended before then, at least a day ago, and that never moved any money, with all they have. */
  forgetNeverPaid(endedBefore: Date, signal?: AbortSignal): Promise<number>

  /** Deletes claims, and idempotency keys of finished orders, from before then. Returns as `erasePersonal`. */
  forgetKeys(usedBefore: Date, signal?: AbortSignal): Promise<number>
}

/** Money that an operator gives the buyer of goods that were delivered (docs/contributors/decisions/022). */
export interface Goodwill {
  /** The order that it is for. Each has one at most. */
  readonly id: OrderId
  readonly version: number
  /** Atomic USDC; at most the price of the order. */
  readonly amount: Usdc
  readonly reason: string
  readonly by: string
  readonly givenAt: Date
  readonly changedAt: Date
  /** The payment of the order: goodwill goes to its payer, the way that the payment came. */
  readonly payment: Payment
  readonly receipt: Receipt
  readonly payout: Payout
}

/** The record of goodwill. Nothing is ever deleted from it. */
export interface GoodwillStore extends WorkflowStore<Goodwill> {
  /** False if its order has one. @throws if it was not delivered, or this is not for its payer or above its price */
  give(goodwill: Goodwill): Promise<boolean>
  hasten(id: OrderId): Promise<void>
  claimDue(limit: number): Promise<readonly Goodwill[]>
  find(id: OrderId): Promise<Goodwill | undefined>
}

export class LimitReached extends Error {
  readonly limit: LimitName

  constructor(limit: LimitName) {
    super(`The limits of the payer do not allow the order: ${limit}`)
    this.limit = limit
  }
}

/**
 * The same wallet bought the same for the same recipient within ten minutes, and may not know of it; or somebody bought
 * for the same receiver within two.
 */
export class TwinFound extends Error {
  /** Those of this wallet, the newest first, twenty at most. None if another wallet bought for the receiver. */
  readonly orders: readonly OrderId[]

  constructor(orders: readonly OrderId[]) {
    super(`It may be the same purchase as the order ${orders.join(' or ') || 'of another wallet'}`)
    this.orders = orders
  }
}

/** After this many milliseconds a request with a payment is answered, or its order is on record. */
export const maxConsideredMs = 60_000

export interface Reservation {
  readonly request: string
  /** Tells this request from all equal ones; null if the payment is reserved for another request. */
  readonly mark: string | null
}

/** The request of each payment, stored before anybody outside sees the payment (docs/contributors/decisions/016). */
export interface ReservationStore {
  /** A payment that the payer's own key is known to have signed replaces a reservation of one that is not. */
  reserve(paymentKey: string, request: string, isSigned: boolean): Promise<Reservation>
  release(paymentKey: string, mark: string): Promise<void>
  /** Whether a request with this payment is so recent that it may be under way, and was not released. */
  isConsidered(paymentKey: string): Promise<boolean>
  forget(reservedBefore: Date, signal?: AbortSignal): Promise<number>
}

/** A question to a person: one purchase by one wallet (docs/contributors/decisions/020). */
export interface Approval {
  readonly id: string
  readonly tokenHash: string
  readonly payer: string
  /** Keyed digest of what is asked for, like the fingerprint of an order. */
  readonly purchase: string
  readonly amount: Usdc
  /** The most that the purchase may cost: the maximum that the buyer named, or else the price. */
  readonly most: Usdc
  /** What a person reads: a sealed `ApprovedText`. */
  readonly bought: Sealed
  readonly decision: 'APPROVED' | 'DECLINED' | null
  readonly endsAt: Date
  /** The order that it was used for. */
  readonly usedBy: OrderId | null
}

type ApprovedPurchase = Pick<Approval, 'payer' | 'purchase' | 'amount'>

/** Ten of this payer are open. The first of them ends then. */
interface TooManyApprovals {
  readonly openUntil: Date
}

export interface ApprovalStore {
  /** The stored approval that this payer waits for with this purchase at this price, or was declined; else this one. */
  request(
    approval: Omit<Approval, 'decision' | 'usedBy'>,
    now: Date,
  ): Promise<Approval | TooManyApprovals>
  find(tokenHash: string): Promise<Approval | undefined>
  /** Stores what a person decided, once. False if there is nothing to decide any more. */
  decide(
    tokenHash: string,
    answer: {
      readonly decision: 'APPROVED' | 'DECLINED'
      readonly now: Date
      readonly endsAt: Date
    },
  ): Promise<boolean>
  /** True if there is an approval of this payer and purchase for at least this amount, not used for another order. */
  use(purchase: ApprovedPurchase, order: OrderId, now: Date): Promise<boolean>
  forget(endedBefore: Date): Promise<number>
}

export interface StoredClaim {
  readonly key: string
  readonly bodyHash: string
  readonly client?: string | undefined
}

/**
 * `used`: the order has moved since the claim was stored. `other_body`: the key came with another body. Or the spent
 * budget.
 */
export type ClaimUse = 'fresh' | 'used' | 'other_body' | Spent

/**
 * Orders that come to nothing cost the store gas, calls to the chain and room under the refund caps. So each payer,
 * client and receiver may have only so many of them within an hour:
 *
 * - `unpaid_payments`: payments that are not proven yet, or were proven to have failed;
 * - `failed_orders`: orders that were paid, not delivered, and paid back;
 * - `reverts`: transactions that the store sent for such payments and that were reverted;
 * - `refund_claims`: claims for the refund of an order;
 * - `exposure`: what was paid for orders that are open or were refunded within the hour, as a share of the float.
 *
 * They are counted from the orders on record, over all nodes; a delivered order counts no longer. `open_approvals` are
 * counted apart (`TooManyApprovals`).
 */
type BudgetName = CountedBudget | 'exposure' | 'open_approvals'

/** What a budget counts within an hour. */
export type CountedBudget = keyof Budgets | 'reverts' | 'refund_claims'

export interface Budgets {
  readonly unpaid_payments: number
  readonly failed_orders: number
}

/** The price of a purchase, and the float, from which it may have to be refunded. */
export interface Risk {
  readonly float: Usdc
  readonly amount: Usdc
}

/** Whom an order counts for. Client and receiver are keyed digests. */
export interface Subjects {
  readonly payer: string
  readonly client?: string | undefined
  readonly receiver?: string | undefined
}

export type Whose = keyof Subjects | 'order'

export type BudgetRules = Readonly<Record<Whose, Readonly<Partial<Record<BudgetName, number>>>>>

export interface Spent {
  readonly budget: BudgetName
  readonly whose: Whose
  readonly retryAfterSeconds: number
}

/** Whom an order counts for, and their budgets. Without budgets the order is only counted. */
export interface Counted {
  readonly subjects: Subjects
  readonly rules?: BudgetRules
  /** What the refund wallet holds; undefined if it would not pay the order back. */
  readonly float?: Usdc | undefined
}

export class BudgetSpent extends Error {
  readonly spent: Spent

  constructor(spent: Spent) {
    super(`A budget is spent: ${spent.budget} of the ${spent.whose}`)
    this.spent = spent
  }
}

/** An absent rule limits nothing. An empty list allows nothing; it results from two lists without a common value. */
export interface Rules {
  readonly perOrder?: Usdc | undefined
  /** Over the last 24 hours, sliding. */
  readonly perDay?: Usdc | undefined
  readonly kinds?: readonly Kind[] | undefined
  /** ISO 3166-1 alpha-2. */
  readonly countries?: readonly string[] | undefined
  /** Keyed digests, because a recipient is personal data and must not be stored here. */
  readonly recipients?: readonly string[] | undefined
  /** A person must first approve what costs more (docs/contributors/decisions/020). */
  readonly approveAbove?: Usdc | undefined
}

export interface WalletLimits {
  readonly inForce: Rules
  readonly coming?: { readonly rules: Rules; readonly from: Date }
}

/** The published names of the rules, in the order in which they are checked. */
export const limitNames = [
  'kinds',
  'countries',
  'recipients',
  'per_order',
  'per_day',
  'approve_above',
] as const

export type LimitName = (typeof limitNames)[number]

export interface Spend {
  readonly amount: Usdc
  readonly placedAt: Date
}

export interface StoredLimits {
  readonly limits: WalletLimits
  readonly revision: string
}

/** The limits that wallets set themselves. `OrderStore.open` enforces them for every new order. */
export interface LimitStore {
  find(wallet: string): Promise<StoredLimits | undefined>

  /** Replaces the limits that were read; undefined: none. False if somebody else has changed them since. */
  replace(
    wallet: string,
    stored: StoredLimits | undefined,
    limits: WalletLimits | undefined,
  ): Promise<boolean>

  /** The wallet's orders placed after then that count: not those that were never paid, or refunded. */
  spends(wallet: string, after: Date): Promise<readonly Spend[]>

  /** Deletes the limits of wallets that have lifted their last limit, once that is in force. Returns how many. */
  forgetLifted(now: Date): Promise<number>
}

export interface OrderFacts {
  /** A state without orders may be missing. */
  readonly byState: Readonly<Partial<Record<State, number>>>
  /** How many orders ever ended, by final state, including those that were deleted. */
  readonly ended: Readonly<Partial<Record<State, number>>>
  /** The age of the oldest order whose buyer waits for goods or money; undefined without any. */
  readonly oldestOpenSeconds: number | undefined
  readonly refundsFailed: number
  readonly goodwillFailed: number
  /** What was paid in USDC for orders that are neither delivered nor refunded. */
  readonly exposure: Usdc
  readonly refundsStopped: boolean
}

/** What is open at one moment. The store must know it before it sells more. */
export interface OpenFacts {
  readonly exposure: Usdc
  /** By supplier; a supplier without open orders may be missing. */
  readonly suppliers: ReadonlyMap<string, OpenAtSupplier>
  readonly refunds: number
  /** Orders of the last hour that their supplier refused for insufficient funds. */
  readonly fundsRefusals: readonly (FundsRefusal & { readonly supplier: string })[]
}

export interface OpenAtSupplier {
  readonly pending: Usdc
  /** The price of orders that the supplier may still charge for, and of paid checkouts. */
  readonly committed: Usdc
  /** The price of checkouts whose payment is not confirmed yet. */
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

/** Sign-in nonces that were used. A sign-in message can be used once. */
export interface NonceStore {
  useOnce(nonce: string, expiresAt: Date): Promise<boolean>
  isUsed(nonce: string): Promise<boolean>
}

/** Wakes requests in this process that wait for an order, when something may have happened to it. */
export interface Notifier {
  notify(id: OrderId): void
  wait(id: OrderId, ms: number): Promise<void>
}

/** How long things may take. All in milliseconds. */
interface Policy {
  /** From payment to `EXPIRED`, as the manifest publishes it: `fulfillment_deadline_seconds`. */
  readonly deliverWithinMs: number
  /** After `EXPIRED`, how long the refund waits for the supplier's final word (docs/contributors/decisions/004). */
  readonly refundGraceMs: number
  /** How long a purchase call stays open for its goods. */
  readonly patienceMs: number
}

export interface StepDeps extends FindingDeps {
  readonly now: () => Date
  readonly methods: PaymentMethods
  readonly suppliers: Suppliers
  /** Orders that the supplier accepted, which this process heard and may not have put on record yet. */
  readonly accepted: Set<OrderId>
  readonly payoutLimits: PayoutLimits
  readonly denylist: Denylist
  readonly vault: Vault
  readonly policy: Policy
  /** What a facilitator may list of a sale of this kind; absent if the store uses none. */
  readonly listingOf?: ((kind: Kind) => Listing | undefined) | undefined
  readonly report: Reporter
}

export type Step<To extends Order = Order> = workflow.Step<To, Order>

/** `operations/reporter.ts` explains the events. None of them contains goods, personal data or keys. */
export type StoreEvent =
  | {
      readonly name: 'goods_lost' | 'goods_returned' | 'payment_vanished'
      readonly order: OrderId
    }
  | {
      readonly name: 'charge_rose'
      readonly order: OrderId
      readonly listed: Charge
      readonly charged: Charge
    }
  /** The reason is a code. */
  | {
      readonly name: `${'refund' | 'goodwill'}_${'failed' | 'held'}` | 'payment_lost'
      readonly order: OrderId
      readonly reason: string
    }
  | { readonly name: 'budget_spent'; readonly budget: BudgetName; readonly whose: Whose }
  | { readonly name: 'purchase_failed'; readonly error: unknown }
  | { readonly name: 'webhook_given_up'; readonly order: OrderId; readonly answer: string }
  | {
      readonly name: 'step_failed' | 'webhook_step_failed'
      readonly order: OrderId
      readonly error: unknown
    }

export type Reporter = (event: StoreEvent) => void

/** Sends mail. Rejects soon if the mail was not accepted. */
export interface Mailer {
  send(mail: Readonly<Record<'to' | 'subject' | 'text', string>>): Promise<void>
}

/** Only a keyed digest of an address is stored; somebody who asks for the orders of an address types it again. */
export interface MailBook {
  /** Stores the address of an order, or of one that a checkout will open. It replaces an earlier one. */
  remember(order: OrderId, digest: string): Promise<void>
  /** The orders under any of these digests: opened ones first, then those that never were, each newest first. */
  ordersOf(digests: readonly string[], limit: number): Promise<readonly OrderId[]>
  /** Puts on record that a link to these orders was sent. */
  sent(orders: readonly OrderId[], askedBy: 'buyer' | 'anyone' | 'operator'): Promise<void>
  /** Deletes those of orders that ended before then, and those stored before then without an order. Returns how many. */
  forget(endedBefore: Date): Promise<number>
}
