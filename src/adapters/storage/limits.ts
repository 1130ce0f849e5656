import { randomUUID } from 'node:crypto'
import { type Usdc, usdc } from '../../lib/money.ts'
import { budgetWindowMs } from '../../orders/budgets.ts'
import {
  type Approval,
  type ApprovalStore,
  type BudgetRules,
  BudgetSpent,
  type LimitStore,
  maxConsideredMs,
  type OrderStore,
  type Reservation,
  type ReservationStore,
  type Rules,
  type Spent,
} from '../../orders/ports.ts'
import {
  type Database,
  inBatches,
  prepared,
  raised,
  refusedWith,
  restored,
  storable,
} from './database.ts'

interface LimitsRow {
  readonly revision: string
  readonly in_force: unknown
  readonly coming: unknown
  readonly coming_from: Date | null
}

export function createLimitStore(database: Database): LimitStore {
  return {
    async find(wallet) {
      const { rows } = await database.query<LimitsRow>(limitsStatement([wallet.toLowerCase()]))
      if (rows[0] === undefined) return undefined
      const { revision, in_force, coming, coming_from: from } = rows[0]
      const inForce = restored(in_force) as Rules
      const later = from && { coming: { rules: restored(coming) as Rules, from } }
      return { revision, limits: { inForce, ...later } }
    },

    /** One statement in each case. Purchases of the wallet wait for it, because they lock the same row. */
    async replace(wallet, stored, limits) {
      const key = wallet.toLowerCase()
      const json = (rules: Rules | undefined) => rules && JSON.stringify(storable(rules))
      const { inForce, coming } = limits ?? {}
      const values = limits && [key, randomUUID(), json(inForce), json(coming?.rules), coming?.from]
      const writesOne = async (sql: string, all: readonly unknown[]) =>
        (await database.query(sql, [...all])).rowCount === 1
      if (!stored) return !values || writesOne(insertSql, values)
      return values
        ? writesOne(updateSql, [...values, stored.revision])
        : writesOne(deleteSql, [key, stored.revision])
    },

    /** Must select the same orders as the trigger. */
    async spends(wallet, after) {
      type Row = { readonly amount: string; readonly placed_at: Date }
      const { rows } = await database.query<Row>(spendsSql, [wallet.toLowerCase(), after])
      return rows.map(({ amount, placed_at }) => ({ amount: usdc(amount), placedAt: placed_at }))
    },

    async forgetLifted(now) {
      const sql = `delete from wallet_limits where coming = '{}' and coming_from <= $1`
      return (await database.query(sql, [now])).rowCount ?? 0
    },
  }
}

const limitsStatement = prepared(
  'wallet_limits',
  'select revision, in_force, coming, coming_from from wallet_limits where wallet = $1',
)

const insertSql = `
  with alone as materialized (select pg_advisory_xact_lock(wallet_limits_lock($1)))
  insert into wallet_limits (wallet, revision, in_force, coming, coming_from)
  select $1, $2::uuid, $3::jsonb, $4::jsonb, $5::timestamptz from alone
  on conflict do nothing`

const updateSql = `
  update wallet_limits set revision = $2, in_force = $3, coming = $4, coming_from = $5
  where wallet = $1 and revision = $6`

const deleteSql = 'delete from wallet_limits where wallet = $1 and revision = $2'

const spendsSql = `
  select amount, placed_at from orders
  where payer = $1 and placed_at > $2
    and state <> 'PAYMENT_FAILED' and refund_state is distinct from 'REFUNDED'
    and settlement is distinct from 'LOST'`

type ApprovalRow = Omit<Approval, 'amount' | 'most'> & Readonly<Record<'amount' | 'most', string>>

const approvalColumns = `id, token_hash as "tokenHash", payer, purchase, amount, most, bought, decision,
  ends_at as "endsAt", used_by as "usedBy"`

export function createApprovalStore(database: Database): ApprovalStore {
  return {
    async request(approval, now) {
      const { id, tokenHash, payer, purchase, amount, most, bought, endsAt } = approval
      const values = [
        ...[payer, purchase, amount.toString(), now],
        ...[id, tokenHash, most.toString(), bought, endsAt],
      ]
      const { rows } = await database.query<ApprovalRow>(askSql, values)
      const kept = approvalOf(rows)
      if (kept) return kept
      const open = await database.query<{ until: Date | null }>(openSql, [payer, now])
      // One that has ended since leaves room only for the next request.
      return { openUntil: open.rows[0]?.until ?? now }
    },

    async find(tokenHash) {
      const sql = `select ${approvalColumns} from approvals where token_hash = $1`
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
    returning *
  )
  select ${approvalColumns} from kept union all select ${approvalColumns} from added`

const openSql = `
  select min(ends_at) as until from approvals
  where payer = $1 and decision is null and ends_at > $2`

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
  return row && { ...row, amount: usdc(row.amount), most: usdc(row.most) }
}

interface Row {
  readonly budget: Spent['budget']
  readonly whose: Spent['whose']
  readonly wait_seconds: number
}

/** Skips the share of the float if a budget is exhausted, or if no float is given. */
const spentStatement = prepared(
  'spent_budget',
  `with spent as materialized (
    select budget, whose, wait_seconds from spent_budget($1::jsonb, $2, $3, $4, $5)
  )
  select * from spent
  union all
  select budget, whose, wait_seconds from exceeded_share($6, $2, $3, $7)
    where $6::numeric is not null and not exists (select from spent)`,
)

export function spentBudget(database: Database): OrderStore['spentBudget'] {
  return async ({ payer, client = null, receiver = null }, rules, now, risk) => {
    const whose = [JSON.stringify(budgetsOf(rules)), payer.toLowerCase(), client, receiver, now]
    const shares = risk ? [risk.float.toString(), risk.amount.toString()] : [null, null]
    const { rows } = await database.query<Row>(spentStatement([...whose, ...shares]))
    return rows[0] && spentOf(rows[0])
  }
}

export function budgetSpentIn(error: unknown): BudgetSpent | undefined {
  const refused = refusedWith(error, raised.budgetSpent)
  return refused && new BudgetSpent(spentOf(JSON.parse(refused.detail ?? '{}') as Row))
}

const claimStatement = prepared(
  'keep_refund_claim',
  'select use, whose, wait_seconds from keep_refund_claim($1, $2, $3, $4, $5, $6::jsonb)',
)

export function claimRefund(database: Database): OrderStore['claimRefund'] {
  type Use =
    | { readonly use: 'fresh' | 'used' | 'other_body' }
    | ({ readonly use: 'spent' } & Omit<Row, 'budget'>)
  return async ({ id, version }, { key, bodyHash, client }, rules) => {
    const values = [id, version, key, bodyHash, client ?? null, JSON.stringify(budgetsOf(rules))]
    const { rows } = await database.query<Use>(claimStatement(values))
    const row = rows[0]
    if (!row) throw new Error('The database gave no answer for the refund claim')
    return row.use === 'spent' ? spentOf({ ...row, budget: 'refund_claims' }) : row.use
  }
}

export function budgetsOf(most: BudgetRules, float?: Usdc) {
  return { most, windowMs: budgetWindowMs, float: float?.toString() }
}

function spentOf({ budget, whose, wait_seconds }: Row): Spent {
  return { budget, whose, retryAfterSeconds: wait_seconds }
}

export function createReservationStore(database: Database): ReservationStore {
  return {
    async reserve(paymentKey, request, isSigned) {
      const values = [paymentKey, request, isSigned, maxConsideredMs]
      const { rows } = await database.query<Reservation>(reserveStatement(values))
      const [reservation] = rows
      if (reservation === undefined) throw new Error('The reservation gave no row')
      return reservation
    },

    async release(paymentKey, mark) {
      await database.query(releaseStatement([paymentKey, mark]))
    },

    async isConsidered(paymentKey) {
      const { rowCount } = await database.query(consideredStatement([paymentKey, maxConsideredMs]))
      return rowCount === 1
    },

    forget: (before, signal) => inBatches(database, forgetSql, [before], signal),
  }
}

/** Commits without waiting for the disk: only a crash of the database loses the row, and opening the order waits. */
const reserveStatement = prepared(
  'reserve_payment',
  `
  with unhurried as (select set_config('synchronous_commit', 'off', true))
  insert into payment_reservations as held (payment_key, request, signed, reserved_at, under_way)
  select $1::text, $2::text, $3::boolean, now(), array[clock_timestamp()] from unhurried
  on conflict (payment_key) do update set
    request = case when excluded.signed and not held.signed then excluded.request
      else held.request end,
    signed = held.signed or excluded.signed,
    -- By the clock, and not by the start of the statement: the row is locked here, so no two are equal.
    under_way = case
      when held.request = excluded.request or excluded.signed and not held.signed then
        array(select mark from unnest(held.under_way) mark
          where mark > now() - $4::integer * interval '1 ms') || clock_timestamp()
      else held.under_way end
  returning request,
    case when request = $2 then under_way[cardinality(under_way)]::text end as mark`,
)

const releaseStatement = prepared(
  'release_payment',
  `update payment_reservations set under_way = array_remove(under_way, $2::timestamptz)
   where payment_key = $1`,
)

const consideredStatement = prepared(
  'payment_considered',
  `select 1 from payment_reservations
   where payment_key = $1 and exists (
     select from unnest(under_way) mark where mark > now() - $2::integer * interval '1 ms')`,
)

const forgetSql = `
  delete from payment_reservations where payment_key in (
    select payment_key from payment_reservations where reserved_at < $1 limit $2
  )`
