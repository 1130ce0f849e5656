import { describe, expect, test } from 'vitest'
import { type Coin, coins, parseUnits } from '../../../src/payments/coins.ts'
import { eventually, until } from '../requests.ts'
import { useStore } from '../store.ts'
import { choose, ledgerOf, type Paying } from './person.ts'

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
