import { type Return, returnReference } from '../../checkouts/checkout.ts'
import type { Payout } from '../../checkouts/ports.ts'
import type { CheckoutId } from '../../lib/ids.ts'
import { type Usdc, usdc } from '../../lib/money.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Database } from './database.ts'

/** A return that is owed and not sent yet. */
export interface OpenReturn extends Payout {
  readonly checkout: CheckoutId
  readonly seq: number
  readonly invoice: string
  /** What it stands for, as the caps count it. */
  readonly worth: Usdc
  readonly step: Exclude<Return['step']['type'], 'SENT'>
  /** Why it could not be sent, where it has failed. */
  readonly code: string | null
  /** The same in the words of the processor. */
  readonly reason: string | null
  /** Whether an operator has noted it as paid by hand. */
  readonly isNoted: boolean
  readonly since: Date
}

/** The condition is that of an index, so it reads as many checkouts as have something to give back. */
const openSql = `
  select id, coin, doc ->> 'network' as network, refund_to, invoice_id, (one ->> 'seq')::integer as seq, units::text,
    div(units * amount + invoice_units - 1, invoice_units)::text as worth,
    one #>> '{step,type}' as step, one #>> '{step,code}' as code,
    one #>> '{step,reason}' as reason, since.at as since,
    exists (select from hand_payouts where reference = id || '-' || (one ->> 'seq')) as "isNoted"
  from checkouts, jsonb_array_elements(doc -> 'returns') as one,
    lateral (select (one #>> '{units,$bigint}')::numeric as units) as parsed,
    lateral (
      select min(at) as at from checkout_events where checkout_id = checkouts.id
        and jsonb_array_length(detail -> 'returns') >= (one ->> 'seq')::integer
    ) as since
  where return_state is not null and one #>> '{step,type}' <> 'SENT'
  order by since.at, id, seq`

interface OpenRow {
  readonly id: CheckoutId
  readonly coin: Coin
  readonly network: string
  readonly refund_to: string
  readonly invoice_id: string
  readonly seq: number
  readonly units: string
  readonly worth: string
  readonly step: OpenReturn['step']
  readonly code: string | null
  readonly reason: string | null
  readonly isNoted: boolean
  readonly since: Date
}

/** Reads over all returns that are not sent, the oldest first. */
export async function readOpenReturns(database: Database): Promise<readonly OpenReturn[]> {
  const { rows } = await database.query<OpenRow>(openSql)
  return rows.map(({ id, refund_to, invoice_id, units, worth, ...row }) => ({
    ...row,
    checkout: id,
    invoice: invoice_id,
    reference: returnReference(id, row.seq),
    to: refund_to,
    units: BigInt(units),
    worth: usdc(worth),
  }))
}
