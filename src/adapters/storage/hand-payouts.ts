import type { HandPayouts, Payout } from '../../checkouts/ports.ts'
import type { Database } from './database.ts'

/** A payout that an operator has made, as the operator says it. */
interface MadePayout extends Payout {
  readonly transaction: string
  /** Which of the transfers of that amount to that address in it, from 1. */
  readonly transfer: number
  /** Who says so, for the record. */
  readonly by: string
}

/**
 * What is on record after a note: this transaction, or another one that was noted for the payout, or
 * the other payout that this transaction was noted for.
 */
export type Noted =
  | { readonly outcome: 'noted' | 'same' }
  | { readonly outcome: 'other_transaction'; readonly transaction: string }
  | { readonly outcome: 'other_payout'; readonly reference: string }

/** The notes of operators, which are kept for ever. */
export interface HandPayoutNotes extends HandPayouts {
  /** Notes a payout once. Says what stands in its way where it cannot. */
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
