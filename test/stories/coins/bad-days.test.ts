import { describe, expect, test } from 'vitest'
import { type Coin, formatUnits } from '../../../src/payments/coins.ts'
import { eventually, until } from '../requests.ts'
import { useStore } from '../store.ts'
import { choose, ledgerOf, operate, type Paying, rowOf } from './person.ts'

const store = useStore({ coins: {} })

const rowWhen = (
  { id }: Paying,
  met: (row: Awaited<ReturnType<typeof rowOf>>) => boolean,
): ReturnType<typeof rowOf> => eventually(() => rowOf(store, id), met)

const refundIs = (state: string, { orderId }: Paying) =>
  until(store, orderId, ({ refund_state }) => refund_state === state)

const delivered = ({ orderId }: Paying) =>
  until(store, orderId, ({ orders }) => orders?.[0].state === 'FULFILLED')

/** What went to the address that the buyer gave, payout by payout. */
async function sentTo({ refundTo }: Paying, coin: Coin): Promise<readonly string[]> {
  const { outgoing } = (await ledgerOf(store))[coin]
  return outgoing.filter(({ address }) => address === refundTo).map(({ amount }) => amount)
}

async function pageOf({ id, cookie }: Paying): Promise<string> {
  return (await fetch(`${store.url}/pay/${id}`, { headers: { cookie } })).text()
}

const told = (name: string, about: string) =>
  store.logLines.filter((line) => line.includes(`"event":"${name}"`) && line.includes(about))

describe('a payment that BTCPay finds late, because its nodes were away', () => {
  test('goes back whole when it is found after the time, and buys nothing', async () => {
    const paying = await choose(store, 'LTC')
    const units = 3n * paying.units
    await store.btcpay('/nodes', { away: true })
    const amount = formatUnits(units, 'LTC')
    await store.btcpay(`/invoices/${paying.invoice}/pay`, { amount })
    await store.btcpay(`/invoices/${paying.invoice}/expire`)
    await store.btcpay('/nodes', { away: false })
    const row = await rowWhen(paying, ({ returned }) => returned !== '0')
    expect(row).toMatchObject({ state: 'ENDED', returned: String(units) })
    expect(await sentTo(paying, 'LTC')).toEqual([amount])
    expect(await store.query('select from orders where id = $1', [paying.orderId])).toEqual([])
    expect(await pageOf(paying)).toContain('seen too late')
  })
})

describe('one transaction that pays several invoices', () => {
  test('pays one of them in USDT and no other, and the other buyer reads what to do', async () => {
    const [one, other] = [await choose(store, 'USDT'), await choose(store, 'USDT')]
    const transfers = [{ invoice: one.invoice }, { invoice: other.invoice }]
    await store.btcpay('/pay', { transfers })
    await delivered(one)
    await store.btcpay(`/invoices/${other.invoice}/expire`)
    const row = await rowWhen(other, ({ state }) => state === 'ENDED')
    expect(row.settled).toBe('0')
    expect(await pageOf(other)).toContain('Contact the store with the transaction')
  })
})

describe('a payout that BTCPay left alone', () => {
  test('from a wallet that only watches waits, is told, and arrives once when it was sent by hand', async () => {
    await store.btcpay('/wallets', { coin: 'LTC', state: 'watch_only' })
    const paying = await choose(store, 'LTC', { outcome: 'DECLINED' })
    await store.btcpay(`/invoices/${paying.invoice}/pay`)
    const [seen] = await eventually(
      () => store.query('select * from processor_payouts where reference = $1', [paying.orderId]),
      ([row]) => row?.payouts.length === 1 && row.waits_since !== null,
    )
    await refundIs('REFUND_PENDING', paying)
    // Three hours go by.
    await store.query(
      `update processor_payouts set waits_since = waits_since - interval '3 hours'
          where reference = $1`,
      [paying.orderId],
    )
    await eventually(
      async () => told('payout_waits', paying.orderId),
      (lines) => lines.length > 0,
    )
    // It tries ten times with an empty wallet, and may not be through with that yet.
    await store.btcpay('/processor', { enabled: false })
    await store.btcpay('/wallets', { coin: 'LTC', state: 'hot' })
    expect(await sentTo(paying, 'LTC')).toEqual([])
    await store.btcpay(`/payouts/${seen.payouts[0]}/send`)
    await store.btcpay('/processor', { enabled: true })
    await refundIs('REFUNDED', paying)
    expect(await sentTo(paying, 'LTC')).toHaveLength(1)
    expect(told('payout_waits', paying.orderId)).toHaveLength(1)
    const [after] = await store.query(
      'select told_at from processor_payouts where reference = $1',
      [paying.orderId],
    )
    expect(after.told_at).toBeNull()
  })
})

describe('a BTCPay that was restored from a backup', () => {
  test('has forgotten invoices: nobody is asked to pay them, and an operator hears of each', async () => {
    await store.btcpay('/backup')
    const [unpaid, paid] = [await choose(store, 'LTC'), await choose(store, 'LTC')]
    await store.btcpay(`/invoices/${paid.invoice}/pay`)
    await delivered(paid)
    await store.btcpay('/restore')
    for (const { id } of [unpaid, paid]) {
      await eventually(
        async () => told('invoice_gone', id),
        (lines) => lines.length > 0,
      )
    }
    expect(await rowOf(store, unpaid.id)).toMatchObject({ state: 'OPEN', finished_at: null })
    expect(await rowOf(store, paid.id)).toMatchObject({ state: 'ORDERED', finished_at: null })
    expect(await pageOf(unpaid)).toContain('Do not pay right now')
  })

  test('has forgotten a payout: an operator hears of it, and it is not paid again', async () => {
    await store.btcpay('/processor', { enabled: false })
    await operate(store, { does: 'stop', reason: 'a backup is made' })
    const paying = await choose(store, 'LTC', { outcome: 'DECLINED' })
    await store.btcpay(`/invoices/${paying.invoice}/pay`)
    await refundIs('REFUND_PENDING', paying)
    await store.btcpay('/backup')
    await operate(store, { does: 'start', reason: 'the backup is made' })
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
    expect(await sentTo(paying, 'LTC')).toEqual([])
  })
})
