import type { Movements } from '../../reconcile/ports.ts'
import type { Database } from './database.ts'

interface Row {
  readonly transaction_hash: string
  readonly log_index: number
  readonly reason: string
  readonly acknowledged_by: string
}

/** The transfers that a person has vouched for. They are kept for ever. */
export function createMovements(database: Database): Movements {
  return {
    async acknowledged() {
      const { rows } = await database.query<Row>(
        'select transaction_hash, log_index, reason, acknowledged_by from acknowledged_movements',
      )
      return rows.map(({ transaction_hash, log_index, reason, acknowledged_by }) => ({
        transaction: transaction_hash,
        logIndex: log_index,
        reason,
        by: acknowledged_by,
      }))
    },
    async acknowledge({ transaction, logIndex, from, to, amount }, { reason, by }) {
      await database.query(
        `insert into acknowledged_movements values ($1, $2, $3, $4, $5, $6, $7, now())
         on conflict do nothing`,
        [transaction, logIndex, from, to, amount.toString(), reason, by],
      )
    },
  }
}
