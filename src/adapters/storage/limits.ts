import { randomUUID } from 'node:crypto'
import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import type { Approval, ApprovalStore, LimitStore, StoredLimits } from '../../orders/ports.ts'
import {
  present,
  type Rules,
  type Spend,
  type WalletLimits,
} from '../../orders/spending-limits/rules.ts'
import type { Sealed } from '../../secrets/vault.ts'
import { type Database, prepared } from './database.ts'

/** Amounts are text, because JSON numbers are not exact at that size. */
type RulesJson = Omit<Rules, 'perOrder' | 'perDay' | 'approveAbove'> & {
  readonly perOrder?: string
  readonly perDay?: string
  readonly approveAbove?: string
}

interface LimitsRow {
  readonly revision: string
  readonly in_force: RulesJson
  readonly coming: RulesJson | null
  readonly coming_from: Date | null
}

/** Keeps the limits of wallets in the database, where a trigger checks every new order. */
export function createLimitStore(database: Database): LimitStore {
  return {
    find: (wallet) => find(database, wallet.toLowerCase()),
    replace: (wallet, read, limits) => replace(database, wallet.toLowerCase(), read, limits),
    spends: (wallet, after) => spends(database, wallet.toLowerCase(), after),
    forgetLifted: (now) => forgetLifted(database, now),
  }
}

const limitsStatement = prepared(
  'wallet_limits',
  'select revision, in_force, coming, coming_from from wallet_limits where wallet = $1',
)

async function find(database: Database, wallet: string): Promise<StoredLimits | undefined> {
  const { rows } = await database.query<LimitsRow>(limitsStatement([wallet]))
  const [row] = rows
  return row && { limits: limitsOf(row), revision: row.revision }
}

/** One statement in each case. Purchases of the wallet wait for it, because they lock the same row. */
async function replace(
  database: Database,
  wallet: string,
  read: StoredLimits | undefined,
  limits: WalletLimits | undefined,
): Promise<boolean> {
  const values = limits && [wallet, randomUUID(), ...columnsOf(limits)]
  if (!read) return !values || isOne(await database.query(insertSql, values))
  const written = values
    ? await database.query(updateSql, [...values, read.revision])
    : await database.query(deleteSql, [wallet, read.revision])
  return isOne(written)
}

const insertSql = `
  with alone as materialized (select pg_advisory_xact_lock(wallet_limits_lock($1)))
  insert into wallet_limits (wallet, revision, in_force, coming, coming_from)
  select $1, $2::uuid, $3::jsonb, $4::jsonb, $5::timestamptz from alone
  on conflict do nothing`

const updateSql = `
  update wallet_limits set revision = $2, in_force = $3, coming = $4, coming_from = $5
  where wallet = $1 and revision = $6`

const deleteSql = 'delete from wallet_limits where wallet = $1 and revision = $2'

function isOne({ rowCount }: { readonly rowCount: number | null }): boolean {
  return rowCount === 1
}

function columnsOf({ inForce, coming }: WalletLimits): unknown[] {
  return [jsonOf(inForce), coming ? jsonOf(coming.rules) : null, coming?.from ?? null]
}

/** Must select the same orders as the trigger. */
const spendsSql = `
  select amount, placed_at from orders
  where payer = $1 and placed_at > $2
    and state <> 'PAYMENT_FAILED' and refund_state is distinct from 'REFUNDED'
    and settlement is distinct from 'LOST'`

async function spends(database: Database, wallet: string, after: Date): Promise<readonly Spend[]> {
  type Counted = { readonly amount: string; readonly placed_at: Date }
  const { rows } = await database.query<Counted>(spendsSql, [wallet, after])
  return rows.map(({ amount, placed_at }) => ({ amount: usdc(amount), placedAt: placed_at }))
}

async function forgetLifted(database: Database, now: Date): Promise<number> {
  const sql = `delete from wallet_limits where coming = '{}' and coming_from <= $1`
  return (await database.query(sql, [now])).rowCount ?? 0
}

function limitsOf({ in_force, coming, coming_from }: LimitsRow): WalletLimits {
  const inForce = rulesOf(in_force)
  return coming && coming_from
    ? { inForce, coming: { rules: rulesOf(coming), from: coming_from } }
    : { inForce }
}

function rulesOf({ perOrder, perDay, approveAbove, ...lists }: RulesJson): Rules {
  return present({
    perOrder: perOrder === undefined ? undefined : usdc(perOrder),
    perDay: perDay === undefined ? undefined : usdc(perDay),
    approveAbove: approveAbove === undefined ? undefined : usdc(approveAbove),
    kinds: lists.kinds,
    countries: lists.countries,
    recipients: lists.recipients,
  })
}

function jsonOf({ perOrder, perDay, approveAbove, ...lists }: Rules): string {
  return JSON.stringify({
    ...lists,
    perOrder: perOrder?.toString(),
    perDay: perDay?.toString(),
    approveAbove: approveAbove?.toString(),
  })
}

interface ApprovalRow {
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

/** Keeps approvals in the database, where the check of new orders reads them. */
export function createApprovalStore(database: Database): ApprovalStore {
  return {
    async ask(wanted, now) {
      const { id, tokenHash, payer, purchase, amount, most, bought, endsAt } = wanted
      const values = [
        ...[payer, purchase, amount.toString(), now],
        ...[id, tokenHash, most.toString(), bought, endsAt],
      ]
      const { rows } = await database.query<ApprovalRow>(askSql, values)
      return approvalOf(rows) ?? wanted
    },

    async find(tokenHash) {
      const sql = 'select * from approvals where token_hash = $1'
      return approvalOf((await database.query<ApprovalRow>(sql, [tokenHash])).rows)
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

function approvalOf([row]: readonly ApprovalRow[]): Approval | undefined {
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
