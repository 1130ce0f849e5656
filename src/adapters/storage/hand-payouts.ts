import type { Pool } from 'pg'
import type { CoinPayout, HandPayouts } from '../../checkouts/ports.ts'
import { type Refunding, withPayout } from '../../orders/order.ts'
import type { Payout } from '../../orders/payout.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { moveAside } from '../../orders/workflow.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Database } from './database.ts'
import { createOrderStore } from './orders.ts'
import { atOnce } from './transaction.ts'

/** A payout that an operator has made by hand, as the operator reports it. */
interface MadePayout extends Pick<CoinPayout, 'reference' | 'to' | 'units'> {
  readonly coin: Coin | 'USDC'
  readonly transaction: string
  /** Which of the transaction's transfers of that amount to that address, from 1. */
  readonly transfer: number
  /** Who reports it. */
  readonly by: string
}

/**
 * What is on record after a note: this transaction (`same`: it was noted before), another transaction that was
 * noted for the payout, or another payout that this transfer was noted for.
 */
export type Noted =
  | { readonly outcome: 'noted' | 'same' }
  | { readonly outcome: 'other_transaction'; readonly transaction: string }
  | { readonly outcome: 'other_payout'; readonly reference: string }

/** The notes of operators, which are kept for ever. */
export interface HandPayoutNotes extends HandPayouts {
  /** Notes a payout once, or returns the earlier note that prevents it. */
  note(payout: MadePayout): Promise<Noted>
}

export function createHandPayouts(database: Database): HandPayoutNotes {
  const find = async (reference: string) => {
    const { rows } = await database.query<{ transaction_hash: string }>(
      'select transaction_hash from hand_payouts where reference = $1',
      [reference],
    )
    return rows[0]?.transaction_hash
  }
  return { find, note: (payout) => note(database, find, payout) }
}

/** The result of `bookByHand`. `moved`: another worker moved the order meanwhile, so nothing was noted. */
export type BookedByHand = Noted | { readonly outcome: 'moved' }

/**
 * Notes the refund of an order in USDC and books it as paid, in one transaction. A refund that is only noted
 * would still be signed and sent when the buyer claims it.
 *
 * @param order an order whose refund has failed
 */
export async function bookByHand(
  pool: Pool,
  order: Refunding,
  made: Pick<MadePayout, 'transaction' | 'transfer' | 'by'>,
): Promise<BookedByHand> {
  const { id: reference, amount: units, tender } = order
  const payout = { reference, coin: 'USDC', units, to: tender.payer.toLowerCase() } as const
  try {
    return await atOnce(pool, async (client) => {
      const noted = await createHandPayouts(client).note({ ...payout, ...made })
      if (noted.outcome === 'noted') await book(createOrderStore(client), order, made.transaction)
      return noted
    })
  } catch (error) {
    if (error instanceof Moved) return { outcome: 'moved' }
    throw error
  }
}

/** Rolls back the transaction, because another worker moved the order meanwhile. */
class Moved extends Error {}

async function book(orders: OrderStore, order: Refunding, transaction: string): Promise<void> {
  const due = await orders.move(order, withPayout(order, { state: 'DUE' }))
  if (!due.won) throw new Moved()
  const paid: Payout = { state: 'CONFIRMED', transaction, confirmedAt: new Date() }
  const booked = await moveAside(orders, due.record, withPayout(due.record as Refunding, paid))
  if (!booked.won) throw new Moved()
}

async function note(
  database: Database,
  find: HandPayouts['find'],
  payout: MadePayout,
): Promise<Noted> {
  const transaction = payout.transaction.toLowerCase()
  const { reference, coin, units, to, by, transfer } = payout
  const { rowCount } = await database.query(
    `insert into hand_payouts
       (reference, coin, units, address, transaction_hash, noted_by, noted_at, transfer)
     values ($1, $2, $3, $4, $5, $6, now(), $7)
     on conflict do nothing`,
    [reference, coin, units.toString(), to, transaction, by, transfer],
  )
  if (rowCount === 1) return { outcome: 'noted' }
  const before = await find(reference)
  if (before !== undefined) {
    return before === transaction
      ? { outcome: 'same' }
      : { outcome: 'other_transaction', transaction: before }
  }
  const { rows } = await database.query<{ reference: string }>(
    `select reference from hand_payouts
      where transaction_hash = $1 and address = $2 and units = $3 and transfer = $4`,
    [transaction, to, units.toString(), transfer],
  )
  return { outcome: 'other_payout', reference: rows[0]?.reference ?? '' }
}
