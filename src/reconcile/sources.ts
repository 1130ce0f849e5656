import type { HandPayouts } from '../checkouts/ports.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'
import type { Account, idsFor, Order } from '../orders/order.ts'
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

export interface Sources {
  readonly chain: ChainStatement
  readonly suppliers: ReadonlyMap<string, SupplierStatement>
  readonly store: Omit<StoreRecord, 'atOnce' | 'newestBlock'>
  readonly checkouts: CheckoutRecord
  /** Without one, the report says that invoices and payouts are not compared. */
  readonly processor?: ProcessorStatement | undefined
  readonly hands: HandPayouts
  readonly movements: Pick<Movements, 'acknowledged'>
}

export interface Look extends Patience {
  readonly fromBlock?: number | undefined
  /** Under each key of the operator. */
  readonly idsFor: (payment: PaymentName) => readonly Ids[]
}

export type PaymentName = Parameters<typeof idsFor>[1]
export type Ids = ReturnType<typeof idsFor>

export interface LostPayment {
  readonly transfer: ChainTransfer & { readonly nonce: string }
  readonly minedAt: Date
  readonly ids: readonly Ids[]
  refund?: { readonly of: Ids; readonly transfer: ChainTransfer }
}

export interface UnbookedRefund {
  readonly order: Order
  readonly refund: Pick<ChainTransfer, 'transaction'>
  readonly payment: ChainTransfer | undefined
}

interface Movement {
  readonly transfer: ChainTransfer
  readonly isWithin: boolean
  readonly acknowledged: Acknowledgement | undefined
}

export type EarlierWallet = Pick<StoreWallet, 'role' | 'address'> & { readonly holds: Usdc }

/** Amounts are atomic USDC, except those of `coins`. */
interface Totals extends Pick<Notes, 'chain' | 'goodwill' | 'supplier' | 'orders' | 'checkouts'> {
  readonly ledger: Readonly<Record<Account, bigint>>
  readonly invoices: Readonly<Record<Account, bigint>>
  /** In the smallest unit of each coin. */
  readonly coins: Readonly<Partial<Record<Coin, CoinSums>>>
}

export interface Report {
  readonly from: number
  readonly to: number
  readonly totals: Totals
  readonly differences: readonly Difference[]
  readonly open: readonly Open[]
  readonly notChecked: readonly string[]
  readonly silent: readonly string[]
  /** If none of the keys gives its id. */
  readonly misnamed: OrderId | undefined
  readonly movements: readonly Movement[]
  readonly earlier: readonly EarlierWallet[]
  readonly lost: readonly LostPayment[]
  readonly unbooked: readonly UnbookedRefund[]
}

export type Notes = ReturnType<typeof emptyNotes>

export function emptyNotes() {
  return {
    differences: [] as Difference[],
    open: [] as Open[],
    lost: [] as LostPayment[],
    unbooked: [] as UnbookedRefund[],
    /** By `placeOf`, because a transfer from one of our wallets to another is met twice. */
    movements: new Map<string, Movement>(),
    /** The first block in which each wallet is the store's, by `walletKey`. */
    wallets: new Map<string, number>(),
    acknowledged: new Map<string, Acknowledgement>(),
    /** Ids only: there may be many. */
    paid: new Set<OrderId>(),
    refunded: new Map<OrderId, string>(),
    delivered: new Set<OrderId>(),
    unbookedPayments: new Map<OrderId, ChainTransfer>(),
    chain: { received: 0n, refunded: 0n, unmatched: 0n },
    given: [] as { readonly order: OrderId; readonly transfer: ChainTransfer }[],
    goodwill: { booked: 0n, onChain: 0n },
    supplier: { delivered: 0, returned: 0, pending: 0, failed: 0, foreign: 0 },
    newest: undefined as Order | undefined,
    orders: 0,
    checkouts: 0,
    handTransfers: new Set<string>(),
    paidByHand: 0,
    notChecked: [] as string[],
    silent: [] as string[],
  }
}

export async function ordersOf(
  store: Pick<StoreRecord, 'byIds'>,
  ids: readonly OrderId[],
): Promise<ReadonlyMap<string, Order>> {
  return new Map((await store.byIds(ids)).map((order) => [order.id, order]))
}

export function note(notes: Notes, finding: Finding | undefined): void {
  if (finding === undefined) return
  const { type, ...about } = finding
  if (type === 'difference') notes.differences.push(about as Difference)
  else notes.open.push(about as Open)
}

/** A difference, unless acknowledged or between two of our wallets. */
export function noteMovement(notes: Notes, transfer: ChainTransfer, difference: Finding): void {
  const acknowledged = notes.acknowledged.get(placeOf(transfer))
  const isWithin = isOurs(notes, transfer.from) && isOurs(notes, transfer.to)
  notes.movements.set(placeOf(transfer), { transfer, isWithin, acknowledged })
  if (acknowledged === undefined && !isWithin) note(notes, difference)
}

function isOurs({ wallets }: Notes, address: string): boolean {
  return wallets.has(walletKey('pay_to', address)) || wallets.has(walletKey('refunds', address))
}

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
