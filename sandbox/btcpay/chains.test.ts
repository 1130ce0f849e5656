import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { makeAddress } from './addresses.ts'
import { ask, payOut, startTestBtcpay, storeId } from './client.fixture.ts'

const started = stoppedAfterEach()

async function begin() {
  const { url, stop } = await startTestBtcpay()
  started.push({ stop })
  const call = (name: string, body: object = {}) => ask(url, `POST ${name}`, body)
  const get = async (path: string) => (await ask(url, `GET ${path}`)).body
  const invoice = async (method: string): Promise<string> => {
    const checkout = { paymentMethods: [method] }
    return (await call(`/api/v1/stores/${storeId}/invoices`, { amount: '5', checkout })).body.id
  }
  const paymentsOf = async (id: string) =>
    (await get(`/api/v1/invoices/${id}/payment-methods`))[0].payments
  return { call, get, invoice, paymentsOf, url }
}

test('what is paid while the nodes are away bears the time at which it is found', async () => {
  const { call, get, invoice, paymentsOf } = await begin()
  const id = await invoice('LTC-CHAIN')
  await call('/sandbox/nodes', { away: true })
  const paid = await call(`/sandbox/invoices/${id}/pay`)
  expect(paid.body.seen).toBe(false)
  await call(`/sandbox/invoices/${id}/expire`)
  expect(await paymentsOf(id)).toEqual([])
  await call('/sandbox/nodes', { away: false })
  const { expirationTime, ...found } = await get(`/api/v1/invoices/${id}`)
  expect(found).toMatchObject({ status: 'Expired', additionalStatus: 'PaidLate' })
  const [payment] = await paymentsOf(id)
  expect(payment.receivedDate).toBeGreaterThan(expirationTime)
  expect(payment.id).toBe(`${paid.body.transaction}-0`)
  expect((await get('/sandbox/ledger')).LTC.incoming).toHaveLength(1)
})

test('transfers of one transaction are payments by their outputs, where a payment is named so', async () => {
  const { call, get, invoice, paymentsOf } = await begin()
  const [one, other] = [await invoice('LTC-CHAIN'), await invoice('LTC-CHAIN')]
  const transfers = [{ invoice: one }, { invoice: other }, { invoice: other }]
  const { transaction, seen } = (await call('/sandbox/pay', { transfers })).body
  expect(seen).toEqual([true, true, true])
  expect(await paymentsOf(one)).toMatchObject([{ id: `${transaction}-0` }])
  expect(await paymentsOf(other)).toMatchObject([
    { id: `${transaction}-1` },
    { id: `${transaction}-2` },
  ])
  const { incoming } = (await get('/sandbox/ledger')).LTC
  expect(incoming.map(({ id }: { id: string }) => id)).toEqual(Array(3).fill(transaction))
})

test('transfers of one transaction are one payment in USDT, and count once', async () => {
  const { call, get, invoice, paymentsOf } = await begin()
  const [one, other] = [await invoice('USDT-TRON'), await invoice('USDT-TRON')]
  const transfers = [
    { invoice: one, amount: '1' },
    { invoice: one, amount: '1' },
    { invoice: other },
  ]
  expect((await call('/sandbox/pay', { transfers })).body.seen).toEqual([true, false, false])
  expect(await paymentsOf(one)).toMatchObject([{ value: '1' }])
  expect(await paymentsOf(other)).toEqual([])
  expect((await get('/sandbox/ledger')).USDT.incoming).toHaveLength(3)
})

test('a payout from a wallet without keys is left alone at once, until somebody sends it', async () => {
  const { call, get, url } = await begin()
  await call('/sandbox/wallets', { coin: 'LTC', state: 'watch_only' })
  const payout = async () =>
    (
      await payOut(url, 'LTC', {
        destination: makeAddress('LTC', 'outside', String(Math.random())),
        amount: '0.1',
      })
    ).id
  const first = await payout()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await call(`/sandbox/payouts/${first}/send`)).toMatchObject({ status: 400 })
  await call('/sandbox/wallets', { coin: 'LTC', state: 'hot' })
  // The keys come too late for the first payout: only those claimed from now on are sent automatically.
  const second = await payout()
  const stateOf = async (id: string) => (await get(`/api/v1/payouts/${id}`)).state
  await until(async () => (await stateOf(second)) === 'Completed' || undefined)
  expect(await stateOf(first)).toBe('AwaitingPayment')
  await call(`/sandbox/payouts/${first}/send`)
  await until(async () => (await stateOf(first)) === 'Completed' || undefined)
})
