import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dataFileOfTest } from '../data-file.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { makeAddress } from './addresses.ts'
import { ask, payOut, startTestBtcpay, storeId } from './client.fixture.ts'

const dataFile = dataFileOfTest()
const never = 86_400_000
const payoutsWith = ({ pullPaymentId }: { readonly pullPaymentId: string }) =>
  `/api/v1/pull-payments/${pullPaymentId}/payouts`

test('keeps invoices, payouts and books, and finishes what was begun', async () => {
  const first = await startTestBtcpay({ dataFile: dataFile(), confirmMs: never, payoutMs: never })
  const request = { amount: '5', checkout: { paymentMethods: ['LTC-CHAIN'] } }
  const create = `POST /api/v1/stores/${storeId}/invoices`
  const open = (await ask(first.url, create, request)).body
  const paid = (await ask(first.url, create, request)).body
  await ask(first.url, `POST /sandbox/invoices/${paid.id}/pay`)
  const payout = await payOut(first.url, 'LTC', {
    destination: makeAddress('LTC', 'outside', 'buyer'),
    amount: '0.1',
  })
  await Promise.all([first.stop(), first.stop()])

  appendFileSync(dataFile(), '[{"type":"invo')
  const second = await startTestBtcpay({ dataFile: dataFile() })
  try {
    const get = async (path: string) => (await ask(second.url, `GET ${path}`)).body
    const read = (id: string) => get(`/api/v1/invoices/${id}/payment-methods`)
    expect(await get(`/api/v1/invoices/${open.id}`)).toMatchObject({ status: 'New' })
    const [prompt] = await read(open.id)
    expect(prompt).toMatchObject({ rate: '84.17', payments: [] })
    expect((await read(paid.id))[0].payments).toHaveLength(1)
    await ask(second.url, `POST /sandbox/invoices/${paid.id}/confirm`)
    expect((await get(`/api/v1/invoices/${paid.id}`)).status).toBe('Settled')
    const next = (await ask(second.url, create, request)).body
    expect((await read(next.id))[0].destination).not.toBe(prompt.destination)
    expect(await get(payoutsWith(payout))).toMatchObject([{ state: 'AwaitingPayment' }])
    expect((await get('/sandbox/ledger')).LTC.incoming).toHaveLength(1)
  } finally {
    await second.stop()
  }
})

test('confirmations and payouts that were due while it was down come after the start', async () => {
  const first = await startTestBtcpay({ dataFile: dataFile(), confirmMs: 300, payoutMs: 300 })
  const invoice = (await ask(first.url, `POST /api/v1/stores/${storeId}/invoices`, { amount: '5' }))
    .body
  await ask(first.url, `POST /sandbox/invoices/${invoice.id}/pay`, { coin: 'ETH' })
  const payout = await payOut(first.url, 'ETH', {
    destination: makeAddress('ETH', 'outside', 'buyer'),
    amount: '0.1',
  })
  await first.stop()
  const second = await startTestBtcpay({ dataFile: dataFile() })
  try {
    const get = async (path: string) => (await ask(second.url, `GET ${path}`)).body
    const settled = async () => (await get(`/api/v1/invoices/${invoice.id}`)).status === 'Settled'
    const sent = async () => (await get(payoutsWith(payout)))[0].state === 'Completed'
    await until(async () => ((await settled()) && (await sent())) || undefined)
  } finally {
    await second.stop()
  }
})
