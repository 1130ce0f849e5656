import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import type { Approval, ApprovalStore } from '../../orders/ports.ts'
import type { Sealed } from '../../secrets/vault.ts'
import type { Database } from './database.ts'

interface Row {
  readonly id: string
  readonly token_hash: string
  readonly payer: string
  readonly purchase: string
  readonly amount: string
  readonly most: string
  readonly bought: string
  readonly decision: Approval['decision'] | null
  readonly ends_at: Date
  readonly used_by: string | null
}

/** Keeps approvals in the database, where the check of new orders reads them (003-limits.sql). */
export function createApprovalStore(database: Database): ApprovalStore {
  return {
    async ask(wanted, now) {
      const { id, tokenHash, payer, purchase, amount, most, bought, endsAt } = wanted
      const values = [
        ...[payer, purchase, amount.toString(), now],
        ...[id, tokenHash, most.toString(), bought, endsAt],
      ]
      const { rows } = await database.query<Row>(askSql, values)
      return oneOf(rows) ?? wanted
    },

    async find(tokenHash) {
      const sql = 'select * from approvals where token_hash = $1'
      return oneOf((await database.query<Row>(sql, [tokenHash])).rows)
    },

    async decide(tokenHash, { decision, now, endsAt }) {
      const { rowCount } = await database.query(decideSql, [tokenHash, decision, now, endsAt])
      return rowCount === 1
    },

    async use({ payer, purchase, amount }, order, now) {
      const values = [payer, purchase, amount.toString(), order, now]
      return (await database.query(useSql, values)).rowCount === 1
    },

    async forget(before) {
      const sql = 'delete from approvals where ends_at < $1'
      return (await database.query(sql, [before])).rowCount ?? 0
    },
  }
}

/** Returns an earlier approval that still answers this request; otherwise inserts the new one and returns no row. */
const askSql = `
  with kept as (
    select * from approvals
    where payer = $1 and purchase = $2 and ends_at > $4::timestamptz
      and (decision = 'DECLINED' or decision is null and most >= $3::numeric)
    order by decision nulls last, asked_at desc limit 1
  ), added as (
    insert into approvals (id, token_hash, payer, purchase, amount, most, bought, asked_at, ends_at)
    select $5::uuid, $6, $1, $2, $3::numeric, $7::numeric, $8, $4::timestamptz, $9::timestamptz
    where not exists (select from kept)
  )
  select * from kept`

const decideSql = `
  update approvals set decision = $2, ends_at = $4
  where token_hash = $1 and decision is null and ends_at > $3`

/** Locks the row and checks it again before the update, so that two payments never use one approval. */
const useSql = `
  update approvals set used_by = $4 where id = (
    select id from approvals
    where payer = $1 and purchase = $2 and most >= $3::numeric and decision = 'APPROVED'
      and ends_at > $5 and (used_by is null or used_by = $4)
    order by used_by nulls last limit 1 for update
  )`

function oneOf([row]: readonly Row[]): Approval | undefined {
  if (row === undefined) return undefined
  const { id, payer, purchase, decision, used_by } = row
  return {
    id,
    tokenHash: row.token_hash,
    payer,
    purchase,
    amount: usdc(row.amount),
    most: usdc(row.most),
    bought: row.bought as Sealed,
    ...(decision === null || decision === undefined ? {} : { decision }),
    endsAt: row.ends_at,
    ...(used_by === null ? {} : { usedBy: used_by as OrderId }),
  }
}
