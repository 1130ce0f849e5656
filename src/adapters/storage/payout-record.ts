import type { PayoutRecord, SeenPayout } from '../../checkouts/ports.ts'
import { type Database, prepared } from './database.ts'

const findStatement = prepared(
  'find_seen_payout',
  'select pull_payments, payouts from processor_payouts where reference = $1',
)

/** Adds ids to those already known, each once. */
const keepStatement = prepared(
  'keep_seen_payout',
  `insert into processor_payouts as known (reference, pull_payments, payouts) values ($1, $2, $3)
   on conflict (reference) do update set
     pull_payments = array(select distinct unnest(known.pull_payments || excluded.pull_payments)),
     payouts = array(select distinct unnest(known.payouts || excluded.payouts))`,
)

/** Writes at most twice: when the payout begins to wait, and when it has waited too long. */
const waitsStatement = prepared(
  'payout_waits',
  `insert into processor_payouts as known (reference, waits_since) values ($1, now())
   on conflict (reference) do update set
     waits_since = coalesce(known.waits_since, now()),
     told_at = case when known.waits_since is not null then now() end
     where known.waits_since is null or
       known.told_at is null and known.waits_since <= now() - $2 * interval '1 ms'
   returning told_at is not null as is_told`,
)

const restsStatement = prepared(
  'payout_rests',
  `update processor_payouts set waits_since = null, told_at = null
   where reference = $1 and waits_since is not null`,
)

/** Keeps in PostgreSQL what the payment processor was seen to have of each payout. */
export function createPayoutRecord(database: Database): PayoutRecord {
  return {
    async find(reference) {
      const { rows } = await database.query<{
        pull_payments: readonly string[]
        payouts: readonly string[]
      }>(findStatement([reference]))
      const [row] = rows
      return { pullPayments: row?.pull_payments ?? [], payouts: row?.payouts ?? [] }
    },
    async keep(reference, { pullPayments, payouts }: SeenPayout) {
      await database.query(keepStatement([reference, pullPayments, payouts]))
    },
    async waits(reference, longMs) {
      const { rows } = await database.query<{ is_told: boolean }>(
        waitsStatement([reference, longMs]),
      )
      return rows[0]?.is_told ?? false
    },
    async rests(reference) {
      await database.query(restsStatement([reference]))
    },
  }
}
