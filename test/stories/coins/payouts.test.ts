import { describe, expect, test } from 'vitest'
import { openDatabase } from '../../../src/adapters/storage/database.ts'
import { carryOut } from '../../../src/commands/refunds.ts'
import type { RefundsCommand } from '../../../src/commands/refunds-arguments.ts'
import { usdcFromWhole } from '../../../src/lib/money.ts'
import { eventually, until } from '../requests.ts'
import { useStore } from '../store.ts'
import { choose, ledgerOf, type Paying } from './person.ts'

const store = useStore({ coins: {} })

/** An order that the supplier declines, paid, so that its price goes back. */
async function declined(coin: 'LTC' | 'USDT'): Promise<Paying> {
  const paying = await choose(store, coin, { outcome: 'DECLINED' })
  await store.btcpay(`/invoices/${paying.invoice}/pay`)
  return paying
}

const refundIs = (state: string, { orderId }: Paying) =>
  until(store, orderId, ({ refund_state }) => refund_state === state)

async function sentTo({ refundTo }: Paying): Promise<number> {
  const { outgoing } = (await ledgerOf(store)).LTC
  return outgoing.filter(({ address }) => address === refundTo).length
}

/** What the operator's command does for refunds, in the lines that it prints. */
async function byTheOperator(command: RefundsCommand): Promise<string> {
  const options = { applicationName: 'story', poolSize: 1, onError: () => undefined }
  const database = openDatabase(store.databaseUrl, options)
  const caps = { hour: usdcFromWhole(1_000), day: usdcFromWhole(5_000) }
  const checkouts = { database, caps, by: 'story' }
  const { lines } = await carryOut(checkouts, command).finally(() => database.end())
  return lines.join('\n')
}

describe('money that goes back', () => {
  test('is not stopped by a page of a proxy, and arrives once when BTCPay answers again', async () => {
    await store.btcpay('/faults', { mode: 'proxy', times: 4, only: 'pull-payments' })
    const paying = await declined('LTC')
    await refundIs('REFUNDED', paying)
    expect(await sentTo(paying)).toBe(1)
  })

  test('is an operator’s task where BTCPay has forgotten the payout, and is not paid again', async () => {
    await store.btcpay('/processor', { enabled: false })
    await byTheOperator({ does: 'stop', reason: 'a backup is made' })
    const paying = await declined('LTC')
    await refundIs('REFUND_PENDING', paying)
    await store.btcpay('/backup')
    await byTheOperator({ does: 'start', reason: 'the backup is made' })
    await eventually(
      () =>
        store.query('select payouts from processor_payouts where reference = $1', [paying.orderId]),
      ([row]) => row?.payouts.length === 1,
    )
    await store.btcpay('/restore')
    await refundIs('REFUND_FAILED', paying)
    await store.btcpay('/processor', { enabled: true })
    const [order] = await store.query('select doc from orders where id = $1', [paying.orderId])
    expect(order.doc.payout).toMatchObject({ state: 'FAILED', code: 'payout_gone' })
    expect(await sentTo(paying)).toBe(0)
  })
})
