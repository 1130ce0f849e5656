import { randomUUID } from 'node:crypto'
import { usdc } from '../../lib/money.ts'
import type { LimitStore, StoredLimits } from '../../orders/ports.ts'
import {
  present,
  type Rules,
  type Spend,
  type WalletLimits,
} from '../../orders/spending-limits/rules.ts'
import { type Database, prepared } from './database.ts'

/** Amounts are text, because JSON numbers are not exact at that size. */
type RulesJson = Omit<Rules, 'perOrder' | 'perDay' | 'approveAbove'> & {
  readonly perOrder?: string
  readonly perDay?: string
  readonly approveAbove?: string
}

interface Row {
  readonly revision: string
  readonly in_force: RulesJson
  readonly coming: RulesJson | null
  readonly coming_from: Date | null
}

/** Keeps the limits of wallets in the database, where a trigger checks every new order (003-limits.sql). */
export function createLimitStore(database: Database): LimitStore {
  return {
    find: (wallet) => find(database, wallet.toLowerCase()),
    replace: (wallet, read, limits) => replace(database, wallet.toLowerCase(), read, limits),
    spends: (wallet, after) => spends(database, wallet.toLowerCase(), after),
    forgetLifted: (now) => forgetLifted(database, now),
  }
}

const findStatement = prepared(
  'wallet_limits',
  'select revision, in_force, coming, coming_from from wallet_limits where wallet = $1',
)

async function find(database: Database, wallet: string): Promise<StoredLimits | undefined> {
  const { rows } = await database.query<Row>(findStatement([wallet]))
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

function limitsOf({ in_force, coming, coming_from }: Row): WalletLimits {
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
