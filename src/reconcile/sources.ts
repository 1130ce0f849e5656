import type { HandPayouts } from '../checkouts/ports.ts'
import type { OrderId, PaymentId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import type { Account } from '../orders/ledger.ts'
import type { Order } from '../orders/order.ts'
import type { Coin } from '../payments/coins.ts'
import type { SupplierStatement } from '../suppliers/supplier.ts'
import type { Difference, Finding, Open } from './differences.ts'
import type { Patience } from './judge.ts'
import type {
  Acknowledgement,
  ChainStatement,
  ChainTransfer,
  CheckoutRecord,
  CoinSums,
  Movements,
  ProcessorStatement,
  StoreRecord,
  StoreWallet,
  WalletRole,
} from './ports.ts'

/** The sources that must agree. */
export interface Sources {
  readonly chain: ChainStatement
  readonly suppliers: ReadonlyMap<string, SupplierStatement>
  readonly store: Omit<StoreRecord, 'atOnce' | 'newestBlock'>
  readonly checkouts: CheckoutRecord
  /** Without one, invoices and payouts are not compared, and the report says so. */
  readonly processor?: ProcessorStatement | undefined
  readonly hands: HandPayouts
  readonly movements: Pick<Movements, 'acknowledged'>
}

export interface Look extends Patience {
  /** The first block that is read; without one, that of the oldest order on record. */
  readonly fromBlock?: number | undefined
  /** The ids that an order of this payment has under each key of the operator. */
  readonly idsFor: (payment: PaymentName) => readonly Ids[]
}

export interface PaymentName {
  readonly network: string
  readonly asset: string
  readonly payer: string
  readonly nonce: string
}

export interface Ids {
  readonly id: OrderId
  readonly paymentId: PaymentId
}

/** A payment whose order is not on record, and the ids that its order can have had. */
export interface LostPayment {
  readonly transfer: ChainTransfer & { readonly nonce: string }
  readonly minedAt: Date
  readonly ids: readonly Ids[]
  /** Its refund, and which of the ids the refund is for. */
  refund?: { readonly of: Ids; readonly transfer: ChainTransfer }
}

/** An order on record whose refund was paid and is not on record. */
export interface UnbookedRefund {
  readonly order: Order
  readonly refund: Pick<ChainTransfer, 'transaction'>
  /** Its payment, where that was not on record either. */
  readonly payment: ChainTransfer | undefined
}

/** A transfer of our own wallets that no order explains. */
interface Movement {
  readonly transfer: ChainTransfer
  /** From one of our wallets to another: nothing has left the store. */
  readonly isWithin: boolean
  /** Undefined until somebody acknowledges it. */
  readonly acknowledged: Acknowledgement | undefined
}

/** A transfer, and the order whose goodwill it is by its nonce. */
interface Given {
  readonly order: OrderId
  readonly transfer: ChainTransfer
}

/** An address that was the store's before the present one, and what it still holds. */
export type EarlierWallet = Pick<StoreWallet, 'role' | 'address'> & { readonly holds: Usdc }

/** The totals of each source. Amounts are atomic USDC, except those of `coins`. */
interface Totals {
  /** Of orders that were paid in USDC. */
  readonly ledger: Readonly<Record<Account, bigint>>
  /** Of orders that were paid in coins, at their prices. */
  readonly invoices: Readonly<Record<Account, bigint>>
  /** What invoices received and where it is, in the smallest unit of each coin. */
  readonly coins: Readonly<Partial<Record<Coin, CoinSums>>>
  readonly chain: {
    readonly received: bigint
    readonly refunded: bigint
    readonly unmatched: bigint
  }
  /** What was given to buyers beyond what they paid. */
  readonly goodwill: { readonly booked: bigint; readonly onChain: bigint }
  readonly supplier: Readonly<
    Record<'delivered' | 'returned' | 'pending' | 'failed' | 'foreign', number>
  >
  readonly orders: number
  readonly checkouts: number
}

export interface Report {
  readonly from: number
  readonly to: number
  readonly totals: Totals
  readonly differences: readonly Difference[]
  readonly open: readonly Open[]
  /** What is not compared here, in a few words each. */
  readonly notChecked: readonly string[]
  /** What should have been compared, and was not answered. */
  readonly silent: readonly string[]
  /** The newest order on record in USDC, if none of the keys gives its id. */
  readonly misnamed: OrderId | undefined
  readonly movements: readonly Movement[]
  readonly earlier: readonly EarlierWallet[]
  /** What `rebuild` starts from. */
  readonly lost: readonly LostPayment[]
  readonly unbooked: readonly UnbookedRefund[]
}

/** What has been seen so far. It grows while the sources are read. */
export interface Notes {
  readonly differences: Difference[]
  readonly open: Open[]
  readonly lost: LostPayment[]
  readonly unbooked: UnbookedRefund[]
  /** By `placeOf`, because a transfer from one of our wallets to another is met twice. */
  readonly movements: Map<string, Movement>
  /** The first block in which each wallet is the store's, by `walletKey`. */
  readonly wallets: Map<string, number>
  /** The acknowledged transfers, by `placeOf`. */
  readonly acknowledged: Map<string, Acknowledgement>
  /** Orders whose payment, refund or delivery was seen outside. Ids only: there may be many. */
  readonly paid: Set<OrderId>
  readonly refunded: Map<OrderId, string>
  readonly delivered: Set<OrderId>
  /** Payments of orders that do not count as paid. */
  readonly unbookedPayments: Map<OrderId, ChainTransfer>
  readonly chain: { received: bigint; refunded: bigint; unmatched: bigint }
  /** Transfers with the nonce of the goodwill of an order. */
  readonly given: Given[]
  readonly goodwill: { booked: bigint; onChain: bigint }
  readonly supplier: Record<keyof Totals['supplier'], number>
  /** The newest of the orders on record in USDC. */
  newest: Order | undefined
  orders: number
  checkouts: number
  /** Plain transfers that stand for a refund in USDC which an operator paid. */
  readonly handTransfers: Set<string>
  /** Refunds and returns in coins that an operator noted as paid. */
  paidByHand: number
  readonly notChecked: string[]
  readonly silent: string[]
}

export function emptyNotes(): Notes {
  return {
    differences: [],
    open: [],
    lost: [],
    unbooked: [],
    movements: new Map(),
    wallets: new Map(),
    acknowledged: new Map(),
    paid: new Set(),
    refunded: new Map(),
    delivered: new Set(),
    unbookedPayments: new Map(),
    chain: { received: 0n, refunded: 0n, unmatched: 0n },
    given: [],
    goodwill: { booked: 0n, onChain: 0n },
    supplier: { delivered: 0, returned: 0, pending: 0, failed: 0, foreign: 0 },
    handTransfers: new Set(),
    newest: undefined,
    orders: 0,
    checkouts: 0,
    paidByHand: 0,
    notChecked: [],
    silent: [],
  }
}

export function note(notes: Notes, finding: Finding | undefined): void {
  if (finding === undefined) return
  const { type, ...about } = finding
  if (type === 'difference') notes.differences.push(about as Difference)
  else notes.open.push(about as Open)
}

/**
 * Notes a transfer that no order explains. It is a difference, unless somebody has acknowledged it or it went
 * from one of our wallets to another.
 */
export function noteMovement(notes: Notes, transfer: ChainTransfer, difference: Finding): void {
  const acknowledged = notes.acknowledged.get(placeOf(transfer))
  const isWithin = isOurs(notes, transfer.from) && isOurs(notes, transfer.to)
  notes.movements.set(placeOf(transfer), { transfer, isWithin, acknowledged })
  if (acknowledged === undefined && !isWithin) note(notes, difference)
}

function isOurs({ wallets }: Notes, address: string): boolean {
  return wallets.has(walletKey('pay_to', address)) || wallets.has(walletKey('refunds', address))
}

/** Whether refunds come from another wallet now. */
export function isEarlierRefunds(wallets: readonly StoreWallet[], address: string): boolean {
  return wallets.some((one) => one.role === 'refunds' && one.address === address && !one.isPresent)
}

export function walletKey(role: WalletRole, address: string): string {
  return `${role} ${address}`
}

export function placeOf({
  transaction,
  logIndex,
}: Pick<ChainTransfer, 'transaction' | 'logIndex'>): string {
  return `${transaction} ${logIndex}`
}

export function isAuthorized(
  transfer: ChainTransfer,
): transfer is ChainTransfer & { readonly nonce: string } {
  return transfer.nonce !== undefined
}
