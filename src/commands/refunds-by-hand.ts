import type { Pool } from 'pg'
import type { Database } from '../adapters/storage/database.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import {
  bookByHand,
  createHandPayouts,
  type Noted,
  readPayoutQueue,
} from '../adapters/storage/payouts.ts'
import type { CoinPayout } from '../checkouts/ports.ts'
import { isOrderId } from '../lib/ids.ts'
import { formatUsdc } from '../lib/money.ts'
import { never } from '../lib/never.ts'
import { isRefunding, type Order } from '../orders/order.ts'
import { whyNotTried } from '../orders/refund.ts'
import { formatUnits } from '../payments/coins.ts'
import { payableByHand } from '../payments/pay-back-faults.ts'

/** The result of noting a payment. */
interface NotedInWords {
  /** The payout is on record as paid with this transaction, and can be made due again. */
  readonly isNoted: boolean
  readonly line: string
}

/** Notes the transaction with which an operator made this payout, if it waits for an operator. */
export async function notePaid(
  database: Pool,
  {
    reference,
    transaction,
    transfer = 1,
    by,
  }: Record<'reference' | 'transaction' | 'by', string> & { readonly transfer?: number },
): Promise<NotedInWords> {
  const notes = createHandPayouts(database)
  const before = await notes.find(reference)
  if (before !== undefined) {
    return inWords(
      before === transaction
        ? { outcome: 'same' }
        : { outcome: 'other_transaction', transaction: before },
    )
  }
  const order = isOrderId(reference) ? await createOrderStore(database).find(reference) : undefined
  if (order?.tender.rail === 'x402')
    return noteRefund(database, order, { transaction, transfer, by })
  const payout = await waitingPayout(database, reference)
  if (!payout) {
    const line = 'it does not wait to be paid by hand; npm run refunds tells how it stands'
    return { isNoted: false, line }
  }
  return inWords(await notes.note({ ...payout, transaction, transfer, by }), payout)
}

/** Books a refund in USDC that cannot be paid by its own authorization and was paid by a plain transfer. */
async function noteRefund(
  database: Pool,
  order: Order,
  made: Parameters<typeof bookByHand>[2],
): Promise<NotedInWords> {
  const no = (line: string) => ({ isNoted: false, line })
  if (!made.transaction.startsWith('0x')) return no('a transaction of USDC begins with 0x')
  const why = whyNotTried(order)
  if (why !== undefined || !isRefunding(order)) return no(why ?? 'nothing is owed')
  const booked = await bookByHand(database, order, made)
  if (booked.outcome === 'moved')
    return no('another process changed it meanwhile; look at it again')
  const { isNoted, line } = inWords(booked)
  const paid = `${formatUsdc(order.amount)} USDC to ${order.tender.payer}`
  return { isNoted, line: booked.outcome === 'noted' ? `booked as paid: ${paid}` : line }
}

async function waitingPayout(
  database: Database,
  reference: string,
): Promise<CoinPayout | undefined> {
  const { open } = await readPayoutQueue(database)
  return open.find(
    (one) => one.reference === reference && one.state === 'FAILED' && payableByHand.has(one.code),
  )?.inCoin
}

function inWords(noted: Noted, payout?: CoinPayout): NotedInWords {
  switch (noted.outcome) {
    case 'noted':
      return {
        isNoted: true,
        line: payout
          ? `noted as paid: ${formatUnits(payout.units, payout.coin)} ${payout.coin} to ${payout.to}`
          : 'noted as paid',
      }
    case 'same':
      return { isNoted: true, line: 'was noted before, with this transaction' }
    case 'other_transaction':
      return {
        isNoted: false,
        line: `was noted before, with another transaction: ${noted.transaction}`,
      }
    case 'other_payout':
      return {
        isNoted: false,
        line:
          `this transaction was noted for ${noted.reference}, of the same amount and address; ` +
          'if it has another transfer like that, say so with --transfer 2',
      }
    default:
      return never(noted)
  }
}
