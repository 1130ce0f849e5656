import { describe, expect, test } from 'vitest'
import { type Coin, coins, formatUnits, parseUnits } from '../../../src/payments/coins.ts'
import { eventually, until } from '../requests.ts'
import { useStore } from '../store.ts'
import { choose, ledgerOf, type Paying, rowOf } from './person.ts'

const store = useStore({ coins: {} })

const pay = ({ invoice }: Paying, how: object = {}) => store.btcpay(`/invoices/${invoice}/pay`, how)

const orderIn = (state: string, { orderId }: Paying) =>
  until(store, orderId, ({ orders }) => orders?.[0].state === state)

/** What the person got back in the coin, once that is all of it. */
async function expectBack(coin: Coin, { refundTo }: Paying, ...units: bigint[]): Promise<void> {
  const back = async (): Promise<bigint[]> => {
    const { outgoing } = (await ledgerOf(store))[coin]
    const own = outgoing.filter(({ address }: { address: string }) => address === refundTo)
    return own.map(({ amount }: { amount: string }) => parseUnits(amount, coin))
  }
  await eventually(back, (seen) => seen.length >= units.length)
  expect(await back()).toEqual(units)
}

/** What BTCPay sends by itself; the rest waits for an operator. */
const sent = coins.filter((coin) => coin !== 'XMR' && coin !== 'USDT')

describe('each coin', () => {
  test.concurrent.each(coins)('%s buys', async (coin) => {
    const paying = await choose(store, coin)
    await pay(paying)
    await orderIn('FULFILLED', paying)
  })

  test.concurrent.each(sent)('%s goes back when the goods do not come', async (coin) => {
    const paying = await choose(store, coin, { outcome: 'DECLINED' })
    await pay(paying)
    await orderIn('FULFILLMENT_FAILED', paying)
    await expectBack(coin, paying, paying.units)
    const { refund_state } = await until(
      store,
      paying.orderId,
      ({ refund_state: state }) => state === 'REFUNDED',
    )
    expect(refund_state).toBe('REFUNDED')
  })
})

/** What came in and went out at BTCPay, and what the store has booked of it, in each coin. */
async function bothBooks() {
  const sources = await ledgerOf(store)
  const sums = await store.query(
    `select coin, account, sum(units) as units from checkout_ledger
      join checkouts on checkouts.id = checkout_id group by coin, account`,
  )
  const refunds = await store.query(
    `select doc #>> '{payment,asset}' as coin, sum((doc #>> '{payment,units,$bigint}')::numeric) as units
      from orders where doc #>> '{payout,state}' = 'CONFIRMED' group by 1`,
  )
  const booked = (coin: Coin, account: string) =>
    BigInt(sums.find((sum) => sum.coin === coin && sum.account === account)?.units ?? 0)
  return sent.map((coin) => {
    const moved = (way: 'incoming' | 'outgoing') =>
      sources[coin][way].reduce((sum, { amount }) => sum + parseUnits(amount, coin), 0n)
    const refunded = BigInt(refunds.find((sum) => sum.coin === coin)?.units ?? 0)
    const there = `${coin} in ${moved('incoming')} out ${moved('outgoing')}`
    const here = `${coin} in ${booked(coin, 'received')} out ${refunded - booked(coin, 'returned')}`
    return { there, here, refunded }
  })
}

test('nothing is made or lost: every coin that moved is in the books of the store', async () => {
  // What was just sent is booked when the store hears that it was.
  const sources = await eventually(bothBooks, (seen) =>
    seen.every(({ there, here }) => there === here),
  )
  for (const { refunded } of sources) expect(refunded).toBeGreaterThan(0n)
})

const rowWhen = (
  { id }: Paying,
  met: (row: Awaited<ReturnType<typeof rowOf>>) => boolean,
): ReturnType<typeof rowOf> => eventually(() => rowOf(store, id), met)

const refundIs = (state: string, { orderId }: Paying) =>
  until(store, orderId, ({ refund_state }) => refund_state === state)

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

test('a price in Monero that is paid in five parts, the last one as the page asks, buys', async () => {
  const paying = await choose(store, 'XMR')
  const shown = async () => {
    const page = await pageOf(paying)
    const [, amount = '0'] = /id="amount">([\d.]+)</.exec(page) ?? []
    const [, address = ''] = /id="address">(\w+)</.exec(page) ?? []
    return { amount, address }
  }
  let before = await shown()
  for (let part = 1; part < 5; part += 1) {
    await pay(paying, { amount: formatUnits(paying.units / 5n, 'XMR') })
    const last = before
    before = await eventually(shown, ({ address }) => address !== last.address)
  }
  await pay(paying, before)
  await orderIn('FULFILLED', paying)
})

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

/** As an operator does in BTCPay, in bulk. */
async function archiveAll(): Promise<void> {
  const { url, storeId, apiKey } = store.settings.processor ?? { url: '', storeId: '', apiKey: '' }
  const headers = { authorization: `token ${apiKey}` }
  const pulls = await fetch(`${url}/api/v1/stores/${storeId}/pull-payments`, { headers })
  for (const { id } of (await pulls.json()) as { id: string }[]) {
    await fetch(`${url}/api/v1/pull-payments/${id}`, { method: 'DELETE', headers })
  }
}

test('refunds whose pull payments an operator archives wait for a person, and none is paid again', async () => {
  await store.btcpay('/processor', { enabled: false })
  const coinOfEach = ['BTC', 'LTC'] as const
  const all = await Promise.all(
    coinOfEach.map((coin) => choose(store, coin, { outcome: 'DECLINED' })),
  )
  for (const paying of all) await pay(paying)
  const references = all.map(({ orderId }) => orderId)
  await eventually(
    () => store.query('select * from processor_payouts where reference = any ($1)', [references]),
    (rows) => rows.length === 2 && rows.every(({ payouts }) => payouts.length === 1),
  )
  await archiveAll()
  await store.btcpay('/processor', { enabled: true })
  for (const paying of all) await refundIs('REFUND_FAILED', paying)
  const codes = await store.query(
    `select doc #>> '{payout,code}' as code from orders where id = any ($1)`,
    [references],
  )
  expect(codes.map(({ code }) => code)).toEqual(['payout_archived', 'payout_archived'])
  const books = await ledgerOf(store)
  const reached = coinOfEach.flatMap((coin) => books[coin].outgoing.map(({ address }) => address))
  for (const { refundTo } of all) expect(reached).not.toContain(refundTo)
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
