import type { CoinPayout } from '../../checkouts/ports.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { PayoutState } from '../../orders/payout.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Database } from './database.ts'
import { goodwillOpenSql } from './goodwill.ts'
import { grantedOf } from './payout-limits.ts'
import { type StoredStep, stateOfStep } from './payout-row.ts'

/** A payout that has not reached its buyer yet. Nothing is owed for a payment that was dropped for good. */
export interface OpenPayout {
  /** The order, the return of a checkout, or the goodwill of an order. */
  readonly reference: string
  /** The invoice of a return; null for the refund of an order, and for goodwill. */
  readonly invoice: string | null
  /** Its value in atomic USDC, as the caps count it. */
  readonly worth: Usdc
  readonly to: string
  /** The payout in the coin; only if the buyer paid in a coin. */
  readonly inCoin?: CoinPayout
  /** `WAITING`: nothing is owed until the supplier has given a final answer. */
  readonly state: PayoutState | 'WAITING'
  /** Why it failed; null unless it failed. */
  readonly code: string | null
  /** The same in the words of the chain or the processor. */
  readonly reason: string | null
  /** Whether an operator has noted it as paid by hand. */
  readonly isNoted: boolean
  /** When it was decided that the money goes back. */
  readonly since: Date
}

/** The payouts as an operator sees them. */
export interface PayoutQueue {
  readonly turned: {
    readonly stopped: boolean
    readonly reason: string | null
    readonly by: string | null
    readonly at: Date
  }
  /** What the caps count: refunds of orders (`granted`), returns of checkouts (`returned`) and goodwill (`given`); atomic USDC. */
  readonly granted: { readonly hour: Usdc; readonly day: Usdc }
  readonly returned: { readonly hour: Usdc; readonly day: Usdc }
  readonly given: { readonly hour: Usdc; readonly day: Usdc }
  /** The oldest first. */
  readonly open: readonly OpenPayout[]
}

const switchSql = `
  select stopped, reason, changed_by as by, changed_at as at from refund_switch`

/** The condition matches that of an index, so it reads only the orders that it returns. */
const refundsSql = `
  select id as reference, null as invoice, amount::text as worth,
    substr(payee, case when units is null then 1 else strpos(payee, ':') + 1 end) as to,
    case when units is not null then doc #>> '{tender,asset}' end as coin,
    doc #>> '{tender,network}' as network, units, doc #>> '{refund,step}' as step,
    doc #>> '{refund,code}' as code, doc #>> '{refund,reason}' as reason, since.at as since,
    exists (select from hand_payouts where reference = id) as "isNoted"
  from orders,
    lateral (select doc #>> '{tender,payer}' as payee, doc #>> '{tender,units,$bigint}' as units) as paid,
    lateral (
      select min(at) as at from order_events where order_id = orders.id and refund_step is not null
    ) as since
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED') and settlement is distinct from 'LOST'`

/** The condition matches that of an index, so it reads only checkouts with open returns. */
const returnsSql = `
  select named.reference, invoice_id as invoice,
    div(units * amount + invoice_units - 1, invoice_units)::text as worth, refund_to as to,
    coin, doc ->> 'network' as network, units::text, one #>> '{step,type}' as step,
    one #>> '{step,code}' as code, one #>> '{step,reason}' as reason, since.at as since,
    exists (select from hand_payouts where reference = named.reference) as "isNoted"
  from checkouts, jsonb_array_elements(doc -> 'returns') as one,
    lateral (select (one #>> '{units,$bigint}')::numeric as units) as parsed,
    lateral (select id || '-' || (one ->> 'seq') as reference) as named,
    lateral (
      select min(at) as at from checkout_events where checkout_id = checkouts.id
        and jsonb_array_length(detail -> 'returns') >= (one ->> 'seq')::integer
    ) as since
  where return_state is not null and one #>> '{step,type}' <> 'SENT'
    and one #>> '{step,code}' is distinct from 'payment_vanished'`

const goodwillSql = `
  select id || '-goodwill' as reference, null as invoice, amount::text as worth, payer as to, null as coin,
    null as network, null as units, doc ->> 'step' as step, doc ->> 'code' as code, doc ->> 'reason' as reason,
    given_at as since, false as "isNoted"
  from goodwill where ${goodwillOpenSql}`

interface OpenRow extends Omit<OpenPayout, 'worth' | 'state' | 'inCoin'> {
  readonly worth: string
  readonly coin: Coin | null
  readonly network: string
  /** In the coin; null where the buyer paid in USDC. */
  readonly units: string | null
  readonly step: StoredStep
}

/** Reads all open payouts, the grants and the switch. @throws when the switch is missing */
export async function readPayoutQueue(database: Database): Promise<PayoutQueue> {
  const [turns, granted, returned, given, refunds, returns, goodwill] = await Promise.all([
    database.query<PayoutQueue['turned']>(switchSql),
    grantedOf(database, 'refund'),
    grantedOf(database, 'return'),
    grantedOf(database, 'goodwill'),
    readOpen(database, refundsSql),
    readOpenReturns(database),
    readOpen(database, goodwillSql),
  ])
  const [turned] = turns.rows
  if (!turned) throw new Error('The switch for refunds is missing')
  const open = [...refunds, ...returns, ...goodwill].sort(
    (a, b) => a.since.getTime() - b.since.getTime(),
  )
  return { turned, granted, returned, given, open }
}

/** All returns that are not confirmed, the oldest first. */
export function readOpenReturns(database: Database): Promise<readonly OpenPayout[]> {
  return readOpen(database, returnsSql)
}

async function readOpen(database: Database, sql: string): Promise<readonly OpenPayout[]> {
  const { rows } = await database.query<OpenRow>(`${sql} order by since, reference`)
  return rows.map(({ coin, network, units, worth, step, ...row }) => {
    const open = { ...row, worth: usdc(worth), state: stateOfStep(step) }
    if (coin === null || units === null) return open
    const { reference, to } = row
    return { ...open, inCoin: { reference, coin, network, to, units: BigInt(units) } }
  })
}
