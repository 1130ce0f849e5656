import { expect } from 'vitest'
import { moves, type State } from '../../src/orders/order.ts'
import { payoutMoves } from '../../src/orders/payout.ts'
import type { Store } from './store.ts'

/** What a supplier's ledger says of one purchase. */
export interface LedgerEntry {
  readonly transactionId: string
  readonly offerId: string
  readonly status: string
  readonly cost: number
  readonly held: number
  readonly charged: number
  readonly refunded: number
  readonly deliveries: number
  readonly secrets: readonly string[]
}

/** Everything the supplier was asked for and took. */
export async function ledgerOf(store: Pick<Store, 'admin'>): Promise<readonly LedgerEntry[]> {
  const ledger = (await store.admin('/ledger')) as { purchases: LedgerEntry[] }
  return ledger.purchases
}

/** What the supplier has under the reference of this order. */
export async function bookedFor(
  store: Pick<Store, 'admin'>,
  orderId: string,
): Promise<readonly LedgerEntry[]> {
  const reference = orderId.replace('_', '')
  return (await ledgerOf(store)).filter(({ transactionId }) => transactionId === reference)
}

/** How many rows the store keeps of orders and of everything that comes with them. */
export async function rowsKept(store: Pick<Store, 'query'>): Promise<Record<string, number>> {
  const [row] = await store.query(`select
    (select count(*)::int from orders) as orders,
    (select count(*)::int from payments) as payments,
    (select count(*)::int from idempotency_keys) as keys,
    (select count(*)::int from refund_claims) as claims,
    (select count(*)::int from used_nonces) as nonces`)
  return row
}

/** The states of a refund, as the history has them. */
const refundMoves = { WAITING: ['DUE', 'FAILED'], ...payoutMoves } as const
type RefundState = keyof typeof refundMoves

/** The states, and those of its refund, that an order went through, each once. */
export async function lifeOf(store: Pick<Store, 'query'>, orderId: string) {
  const rows = await store.query(
    'select seq, state, payout_state from order_events where order_id = $1 order by seq',
    [orderId],
  )
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1))
  const states = runs(rows.map(({ state }) => state as State))
  const refunds = runs(
    rows
      .map(({ payout_state }) => payout_state as RefundState | null)
      .filter((state) => state !== null),
  )
  expectPath(states, moves)
  expectPath(refunds, refundMoves)
  return { states, refunds }
}

/** What operators were told of an order, by name. */
export function reported(store: Pick<Store, 'logLines'>, orderId: string): string[] {
  return store.logLines
    .map((line) => JSON.parse(line) as { event?: string; order?: string })
    .flatMap(({ event, order }) => (event && order === orderId ? [event] : []))
}

function runs<T>(all: readonly T[]): T[] {
  return all.filter((one, index) => one !== all[index - 1])
}

function expectPath<T extends string>(
  path: readonly T[],
  table: Readonly<Record<T, readonly string[]>>,
): void {
  for (const [index, to] of path.slice(1).entries()) {
    const from = path[index] as T
    expect(table[from], `${from} to ${to}`).toContain(to)
  }
}

/** Lets the minute pass after which the payment of a delivered order is taken for final. */
export async function settled(store: Pick<Store, 'query'>): Promise<void> {
  await store.query(`begin;
    set local session_replication_role = replica;
    update orders set version = version + 1, settlement = 'FINAL', doc = doc || '{"settlement": "FINAL"}',
      finished_at = now(), due_at = null where state = 'FULFILLED';
    commit`)
}
