import type { Payout } from '../../checkouts/ports.ts'
import type { OrderId } from '../../lib/ids.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { Refund } from '../../orders/order.ts'
import type { Coin } from '../../payments/coins.ts'
import { partsOf } from '../../payments/payment.ts'
import type { Database } from './database.ts'
import { grantedOf } from './payout-limits.ts'
import { type OpenReturn, readOpenReturns } from './return-queue.ts'

/** A refund that is owed and not paid yet. Nothing is owed for a payment that vanished for good. */
export interface OpenRefund {
  readonly order: OrderId
  readonly amount: Usdc
  readonly payee: string
  /** What is paid in its place, where the order was paid in a coin. */
  readonly payout?: Payout
  readonly step: Exclude<Refund['step'], 'REFUNDED'>
  /** Why it could not be paid, where it has failed. */
  readonly code: string | null
  /** The same in the words of the chain or of the processor. */
  readonly reason: string | null
  /** Whether an operator has noted it as paid by hand. */
  readonly isNoted: boolean
  /** When it was decided that the money goes back. */
  readonly since: Date
}

/** What an operator sees of refunds, at one moment. */
export interface RefundQueue {
  readonly turned: {
    readonly stopped: boolean
    readonly reason: string | null
    readonly by: string | null
    readonly at: Date
  }
  /** What the caps count: of refunds of orders, and of returns of checkouts. */
  readonly granted: { readonly hour: Usdc; readonly day: Usdc }
  readonly returned: { readonly hour: Usdc; readonly day: Usdc }
  /** The oldest first. */
  readonly open: readonly OpenRefund[]
  /** What goes back of checkouts, beside the orders that they became; the oldest first. */
  readonly returns: readonly OpenReturn[]
}

const switchSql = `
  select stopped, reason, changed_by as by, changed_at as at from refund_switch`

/** The condition is that of an index, so it reads as many orders as it gives. */
const openSql = `
  select id, amount::text, doc #>> '{tender,payer}' as payee, doc #>> '{refund,step}' as step,
    doc #>> '{refund,code}' as code, doc #>> '{refund,reason}' as reason, since.at as since, doc #>> '{tender,asset}' as asset,
    doc #>> '{tender,network}' as network, doc #>> '{tender,units,$bigint}' as units,
    exists (select from hand_payouts where reference = id) as "isNoted"
  from orders, lateral (
    select min(at) as at from order_events where order_id = orders.id and refund_step is not null
  ) as since
  where refund_state in ('REFUND_PENDING', 'REFUND_FAILED') and settlement is distinct from 'LOST'
  order by since.at, id`

interface OpenRow {
  readonly id: OrderId
  readonly amount: string
  readonly payee: string
  readonly step: OpenRefund['step']
  readonly code: string | null
  readonly reason: string | null
  readonly since: Date
  readonly asset: string
  readonly network: string
  readonly isNoted: boolean
  /** In the coin; null where the order was paid in USDC. */
  readonly units: string | null
}

/** Reads over all refunds that are not paid. @throws when the switch is missing */
export async function readRefundQueue(database: Database): Promise<RefundQueue> {
  const [turns, granted, returned, open, returns] = await Promise.all([
    database.query<RefundQueue['turned']>(switchSql),
    grantedOf(database, 'refund'),
    grantedOf(database, 'return'),
    database.query<OpenRow>(openSql),
    readOpenReturns(database),
  ])
  const [turned] = turns.rows
  if (!turned) throw new Error('The switch for refunds is missing')
  return {
    turned,
    granted,
    returned,
    open: open.rows.map(openRefundOf),
    returns,
  }
}

function openRefundOf({ id, amount, asset, network, units, ...rest }: OpenRow): OpenRefund {
  const refund = { order: id, amount: usdc(amount), ...rest }
  if (units === null) return refund
  const { address: to } = partsOf(rest.payee)
  const payout = { reference: id, coin: asset as Coin, network, to, units: BigInt(units) }
  return { ...refund, payout }
}
