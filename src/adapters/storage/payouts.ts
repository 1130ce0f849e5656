import type { Pool } from 'pg'
import type { CoinPayout, PayoutRecord, SeenPayout } from '../../checkouts/ports.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import { type Refunding, withPayout } from '../../orders/order.ts'
import type { Allowance, Payout, PayoutLimits, PayoutState } from '../../orders/payout.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { moveAside } from '../../orders/workflow.ts'
import type { Coin } from '../../payments/coins.ts'
import { noteAct } from './audit.ts'
import { type Database, inTransaction, prepared } from './database.ts'
import { goodwillOpenSql } from './goodwill.ts'
import { createOrderStore } from './orders.ts'

/**
 * What is, or may at most be, granted within an hour and a day for refunds, for returns and for goodwill each; atomic
 * USDC.
 */
export interface RefundCaps {
  readonly hour: Usdc
  readonly day: Usdc
}

/** The function in the database reads the amount from the record itself. */
export function createPayoutLimits(database: Database, caps: RefundCaps): PayoutLimits {
  return {
    async allow(reference) {
      const values = [reference, caps.hour.toString(), caps.day.toString()]
      const { rows } = await database.query<{ allowed: Allowance }>(
        'select allow_payout($1, $2, $3) as allowed',
        values,
      )
      const [row] = rows
      if (!row) throw new Error(`The database gave no answer for the payout ${reference}`)
      return row.allowed
    },
  }
}

async function grantedOf(
  database: Database,
  kind: 'refund' | 'return' | 'goodwill',
): Promise<RefundCaps> {
  const { rows } = await database.query<{ hour: string; day: string }>(
    `select coalesce(sum(amount) filter (where granted_at > now() - interval '1 hour'), 0)::text as hour,
       coalesce(sum(amount), 0)::text as day
     from payout_grants where kind = $1 and granted_at > now() - interval '1 day'`,
    [kind],
  )
  const { hour = '0', day = '0' } = rows[0] ?? {}
  return { hour: usdc(hour), day: usdc(day) }
}

export const switchSql = `
  select stopped, reason, changed_by as by, changed_at as at from refund_switch order by turn desc limit 1`

export interface SwitchTurn {
  readonly stopped: boolean
  readonly reason?: string | undefined
  readonly by: string
}

export async function switchRefunds(
  database: Database,
  { stopped, reason, by }: SwitchTurn,
): Promise<void> {
  await database.query(
    `with alone as materialized (select lock_payouts())
     insert into refund_switch (stopped, reason, changed_by) select $1, $2, $3 from alone`,
    [stopped, reason ?? null, by],
  )
}

/** A payout that has not reached its buyer yet. Nothing is owed for a payment that was dropped for good. */
export interface OpenPayout {
  readonly reference: string
  readonly invoice: string | null
  /** Its value in atomic USDC, as the caps count it. */
  readonly worth: Usdc
  readonly to: string
  readonly inCoin?: CoinPayout
  /** `WAITING`: nothing is owed until the supplier has given a final answer. */
  readonly state: PayoutState | 'WAITING'
  readonly code: string | null
  readonly reason: string | null
  readonly isNoted: boolean
  readonly since: Date
}

export interface PayoutQueue {
  readonly refundSwitch: {
    readonly stopped: boolean
    readonly reason: string | null
    readonly by: string | null
    readonly at: Date
  }
  readonly granted: RefundCaps
  readonly returnsGranted: RefundCaps
  readonly goodwillGranted: RefundCaps
  readonly openPayouts: readonly OpenPayout[]
}

const refundsSql = `
  select id as reference, null as invoice, amount::text as worth,
    substr(payee, case when units is null then 1 else strpos(payee, ':') + 1 end) as to,
    case when units is not null then doc #>> '{payment,asset}' end as coin,
    doc #>> '{payment,network}' as network, units, coalesce(doc #>> '{payout,state}', 'WAITING') as state,
    doc #>> '{payout,code}' as code, doc #>> '{payout,reason}' as reason, since.at as since,
    exists (select from hand_payouts where reference = id) as "isNoted"
  from orders,
    lateral (select doc #>> '{payment,payer}' as payee, doc #>> '{payment,units,$bigint}' as units) as paid,
    lateral (
      select min(at) as at from order_events where order_id = orders.id and payout_state is not null
    ) as since
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED') and settlement is distinct from 'LOST'`

const returnsSql = `
  select named.reference, invoice_id as invoice,
    div(units * amount + invoice_units - 1, invoice_units)::text as worth, refund_to as to,
    coin, doc ->> 'network' as network, units::text, one #>> '{payout,state}' as state,
    one #>> '{payout,code}' as code, one #>> '{payout,reason}' as reason, since.at as since,
    exists (select from hand_payouts where reference = named.reference) as "isNoted"
  from checkouts, jsonb_array_elements(doc -> 'returns') as one,
    lateral (select (one #>> '{units,$bigint}')::numeric as units) as parsed,
    lateral (select id || '-' || (one ->> 'seq') as reference) as named,
    lateral (
      select min(at) as at from checkout_events where checkout_id = checkouts.id
        and jsonb_array_length(detail -> 'returns') >= (one ->> 'seq')::integer
    ) as since
  where return_state is not null and one #>> '{payout,state}' <> 'CONFIRMED'
    and one #>> '{payout,code}' is distinct from 'payment_vanished'`

const goodwillSql = `
  select named.reference, null as invoice, amount::text as worth,
    substr(payee, case when units is null then 1 else strpos(payee, ':') + 1 end) as to,
    case when units is not null then doc #>> '{payment,asset}' end as coin, doc #>> '{payment,network}' as network,
    div(units * amount, (doc #>> '{payment,amount,$bigint}')::numeric)::text as units,
    doc #>> '{payout,state}' as state, doc #>> '{payout,code}' as code, doc #>> '{payout,reason}' as reason,
    given_at as since, exists (select from hand_payouts where reference = named.reference) as "isNoted"
  from goodwill, lateral (select id || '-goodwill' as reference, doc #>> '{payment,payer}' as payee,
    (doc #>> '{payment,units,$bigint}')::numeric as units) as named
  where ${goodwillOpenSql}`

export async function readPayoutQueue(database: Database): Promise<PayoutQueue> {
  const [turns, granted, returnsGranted, goodwillGranted, refunds, returns, goodwill] =
    await Promise.all([
      database.query<PayoutQueue['refundSwitch']>(switchSql),
      grantedOf(database, 'refund'),
      grantedOf(database, 'return'),
      grantedOf(database, 'goodwill'),
      readOpenPayouts(database, refundsSql),
      readOpenReturns(database),
      readOpenPayouts(database, goodwillSql),
    ])
  const [refundSwitch] = turns.rows
  if (!refundSwitch) throw new Error('The switch for refunds is missing')
  const openPayouts = [...refunds, ...returns, ...goodwill].sort(
    (a, b) => a.since.getTime() - b.since.getTime(),
  )
  return { refundSwitch, granted, returnsGranted, goodwillGranted, openPayouts }
}

export function readOpenReturns(database: Database): Promise<readonly OpenPayout[]> {
  return readOpenPayouts(database, returnsSql)
}

async function readOpenPayouts(database: Database, sql: string): Promise<readonly OpenPayout[]> {
  type Row = Omit<OpenPayout, 'worth' | 'inCoin'> & {
    readonly worth: string
    readonly coin: Coin | null
    readonly network: string
    readonly units: string | null
  }
  const { rows } = await database.query<Row>(`${sql} order by since, reference`)
  return rows.map(({ coin, network, units, worth, ...row }) => {
    const payout = { ...row, worth: usdc(worth) }
    if (coin === null || units === null) return payout
    const { reference, to } = row
    return { ...payout, inCoin: { reference, coin, network, to, units: BigInt(units) } }
  })
}

const chooseStatement = prepared(
  'choose_pull_payment',
  `insert into processor_payouts as known (reference, pull_payment) values ($1, $2)
   on conflict (reference) do update set
     pull_payment = coalesce(known.pull_payment, excluded.pull_payment)
   returning pull_payment`,
)

const keepStatement = prepared(
  'keep_seen_payout',
  `insert into processor_payouts as known (reference, payouts) values ($1, $2)
   on conflict (reference) do update set
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

export function createPayoutRecord(database: Database): PayoutRecord {
  return {
    async find(reference) {
      const { rows } = await database.query<SeenPayout>(
        'select pull_payment as "pullPayment", payouts from processor_payouts where reference = $1',
        [reference],
      )
      return rows[0] ?? { pullPayment: null, payouts: [] }
    },
    async choose(reference, pullPayment) {
      const { rows } = await database.query<{ pull_payment: string }>(
        chooseStatement([reference, pullPayment]),
      )
      return rows[0]?.pull_payment ?? pullPayment
    },
    async keep(reference, payouts) {
      await database.query(keepStatement([reference, payouts]))
    },
    async waits(reference, longMs) {
      const { rows } = await database.query<{ is_told: boolean }>(
        waitsStatement([reference, longMs]),
      )
      return rows[0]?.is_told ?? false
    },
    async rests(reference) {
      await database.query(
        `update processor_payouts set waits_since = null, told_at = null
         where reference = $1 and waits_since is not null`,
        [reference],
      )
    },
  }
}

interface MadePayout extends Pick<CoinPayout, 'reference' | 'to' | 'units'> {
  readonly coin: Coin | 'USDC'
  readonly transaction: string
  /** Which of the transaction's transfers of that amount to that address, from 1. */
  readonly transfer: number
  readonly by: string
}

export type Noted =
  | { readonly outcome: 'noted' | 'same' }
  | { readonly outcome: 'other_transaction'; readonly transaction: string }
  | { readonly outcome: 'other_payout'; readonly reference: string }

export function createHandPayouts(database: Database) {
  const find = async (reference: string) => {
    const { rows } = await database.query<{ transaction_hash: string }>(
      'select transaction_hash from hand_payouts where reference = $1',
      [reference],
    )
    return rows[0]?.transaction_hash
  }
  const note = async (payout: MadePayout): Promise<Noted> => {
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
    if (before === transaction) return { outcome: 'same' }
    if (before !== undefined) return { outcome: 'other_transaction', transaction: before }
    const { rows } = await database.query<{ reference: string }>(
      `select reference from hand_payouts
        where transaction_hash = $1 and address = $2 and units = $3 and transfer = $4`,
      [transaction, to, units.toString(), transfer],
    )
    return { outcome: 'other_payout', reference: rows[0]?.reference ?? '' }
  }
  return { find, note }
}

/** The result of `bookByHand`. `moved`: another worker moved the order meanwhile, so nothing was noted. */
export type BookedByHand = Noted | { readonly outcome: 'moved' }

/** One that is only noted would still be sent when it is claimed. */
export async function bookByHand(
  pool: Pool,
  order: Refunding,
  made: Pick<MadePayout, 'transaction' | 'transfer' | 'by'>,
): Promise<BookedByHand> {
  const { id: reference, amount: units, payment } = order
  const payout = { reference, coin: 'USDC', units, to: payment.payer.toLowerCase() } as const
  try {
    return await inTransaction(pool, async (client) => {
      const result = await createHandPayouts(client).note({ ...payout, ...made })
      if (result.outcome === 'noted') {
        await book(createOrderStore(client), order, made.transaction)
        const after = { transaction: made.transaction }
        await noteAct(client, made.by, { act: 'refund paid', subject: `order:${reference}`, after })
      }
      return result
    })
  } catch (error) {
    if (error instanceof Moved) return { outcome: 'moved' }
    throw error
  }
}

class Moved extends Error {}

async function book(orders: OrderStore, order: Refunding, transaction: string): Promise<void> {
  const due = await orders.move(order, withPayout(order, { state: 'DUE' }))
  if (!due.won) throw new Moved()
  const paid: Payout = { state: 'CONFIRMED', transaction, confirmedAt: new Date() }
  const booked = await moveAside(orders, due.record, withPayout(due.record as Refunding, paid))
  if (!booked.won) throw new Moved()
}
