import { describe, expect, test } from 'vitest'
import { eventually, until } from '../requests.ts'
import { useStore } from '../store.ts'
import { choose, type Paying, rowOf, sendChoice } from './person.ts'

/** How many addresses the USDt plugin has. The tests take them one after the other. */
const addresses = 8
const store = useStore({ coins: { usdtAddresses: addresses } })

const shownTo = async ({ id }: Paying): Promise<string> =>
  (await rowOf(store, id)).doc.invoice.address

/** Lets the time of a checkout pass, at BTCPay and on record. */
async function letPass({ invoice, id }: Paying): Promise<void> {
  await store.btcpay(`/invoices/${invoice}/expire`)
  const row = await eventually(
    () => rowOf(store, id),
    ({ state }) => state === 'ENDED',
  )
  expect(row.state).toBe('ENDED')
}

describe('the addresses of a pool', () => {
  test('are not all held by one visitor, who hears how many checkouts are unpaid', async () => {
    const from = '203.0.113.7'
    const answers = await Promise.all(
      Array.from({ length: addresses }, () => sendChoice(store, 'USDT', { from })),
    )
    const statuses = answers.map(({ answer }) => answer.status).sort()
    expect(statuses).toEqual([303, 303, 303, 429, 429, 429, 429, 429])
    const turnedDown = answers.find(({ answer }) => answer.status === 429)
    expect(await turnedDown?.answer.text()).toContain('You have 3 unpaid checkouts in USDT open')

    const other = await choose(store, 'USDT')
    await store.btcpay(`/invoices/${other.invoice}/pay`)
    await until(store, other.orderId, ({ orders }) => orders?.[0].state === 'FULFILLED')
    await choose(store, 'BTC', { from })
  })

  test('stay with a checkout whose time is over, and count for its visitor', async () => {
    const from = '203.0.113.8'
    const first = await choose(store, 'USDT', { from })
    await letPass(first)
    // The plugin gives the address of the first again by now.
    const second = await choose(store, 'USDT', { from })
    expect(await shownTo(second)).not.toBe(await shownTo(first))
    await choose(store, 'USDT', { from })
    expect((await sendChoice(store, 'USDT', { from })).answer.status).toBe(429)
  })
})
