import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { apiKey, startWithReceiver, storeId } from './client.fixture.ts'
import { symbols } from './coins.ts'

const start = startWithReceiver()
const invoices = `/api/v1/stores/${storeId}/invoices`

async function begin() {
  const { call, receiver, url } = await start({})
  const create = async (body: object = {}) => {
    const request = { amount: '25.00', currency: 'USD', ...only('BTC-CHAIN'), ...body }
    return (await call(`POST ${invoices}`, request)).body
  }
  const method = async (id: string) =>
    (await call(`GET /api/v1/invoices/${id}/payment-methods`)).body[0]
  const become = (id: string, wanted: object) =>
    until(async () => {
      const invoice = (await call(`GET /api/v1/invoices/${id}`)).body
      const fits = Object.entries(wanted).every(([name, value]) => invoice[name] === value)
      return fits ? invoice : undefined
    })
  const act = async (id: string, action: string, body?: object) =>
    (await call(`POST /sandbox/invoices/${id}/${action}`, body)).body
  return { act, become, call, create, method, receiver, url }
}

function only(...paymentMethods: string[]) {
  return { checkout: { paymentMethods } }
}

test('an invoice that is paid is processing, then settled, and the webhook tells it', async () => {
  const { act, become, create, method, receiver } = await begin()
  const metadata = { orderId: 'order-1' }
  const { id } = await create({ metadata })
  const asked = await method(id)
  expect(asked).toMatchObject({ rate: '64392.23', amount: '0.00038825', due: '0.00038825' })
  const paid = await act(id, 'pay')
  expect(paid.invoice.status).toBe('Processing')
  await become(id, { status: 'Settled', additionalStatus: 'None', paidAmount: '25' })
  const after = await method(id)
  expect(after).toMatchObject({ paymentMethodPaid: asked.amount, due: '0' })
  expect(after.payments).toMatchObject([{ id: `${paid.transaction}-0`, value: asked.amount }])
  await until(() => (receiver.received.length >= 5 ? true : undefined))
  const told = ['InvoiceCreated', 'InvoiceReceivedPayment', 'InvoiceProcessing']
  expect(receiver.types()).toEqual([...told, 'InvoicePaymentSettled', 'InvoiceSettled'])
  for (const { event, isSigned } of receiver.received) {
    expect([isSigned, event]).toMatchObject([true, { invoiceId: id, storeId, metadata }])
  }
})

const links = {
  BTC: /^bitcoin:bcrt1\w+\?amount=0\.00038825$/,
  LTC: /^litecoin:rltc1\w+\?amount=0\.\d+$/,
  XMR: /^monero:7\w+\?tx_amount=0\.\d+$/,
  ETH: /^ethereum:0x[\da-fA-F]{40}@11155111\?value=\d+$/,
  USDT: /^tron:T\w{33}\?amount=24\.995\d+$/,
}

test('each coin is asked for with a link that a wallet opens, at the rate of that moment', async () => {
  const { call, create, method } = await begin()
  const { id } = await create(only())
  const { body } = await call(`GET /api/v1/invoices/${id}/payment-methods`)
  for (const symbol of symbols) {
    const one = body.find(({ currency }: { currency: string }) => currency === symbol)
    expect(one.paymentLink).toMatch(links[symbol])
    expect(one.paymentLink).toContain(one.destination)
  }
  await call('POST /sandbox/rates', { BTC: '32196.115' })
  expect(await method(id)).toMatchObject({ rate: '64392.23', amount: '0.00038825' })
  expect(await method((await create()).id)).toMatchObject({ amount: '0.0007765' })
})

test('too much is settled as paid over, and what comes after that is a payment more', async () => {
  const { act, become, create, method } = await begin()
  const { id } = await create()
  await act(id, 'pay', { amount: '0.0007765' })
  await become(id, { status: 'Settled', additionalStatus: 'PaidOver' })
  expect(await method(id)).toMatchObject({ due: '-0.00038825' })
  const twice = await create()
  await act(twice.id, 'pay')
  await become(twice.id, { status: 'Settled' })
  await act(twice.id, 'pay')
  await become(twice.id, { status: 'Settled', additionalStatus: 'None', paidAmount: '50' })
  expect((await method(twice.id)).payments).toHaveLength(2)
})

test('late money is seen as late, and as nothing when the watching is over', async () => {
  const { act, become, call, create, method } = await begin()
  const { id } = await create()
  expect((await act(id, 'pay', { late: true })).seen).toBe(true)
  const invoice = await become(id, { status: 'Expired', additionalStatus: 'PaidLate' })
  const [payment] = (await method(id)).payments
  expect(payment.receivedDate).toBeGreaterThan(invoice.expirationTime)
  const other = await create()
  await act(other.id, 'forget')
  const { seen, transaction } = await act(other.id, 'pay')
  expect([seen, (await method(other.id)).payments]).toEqual([false, []])
  const { incoming } = (await call('GET /sandbox/ledger')).body.BTC
  expect(incoming[1]).toMatchObject({ id: transaction, subject: other.id })
})

test.each<[what: string, body: object, path: string]>([
  ['no amount', { amount: null }, 'amount'],
  ['a negative amount', { amount: '-1' }, 'amount'],
  ['words for an amount', { amount: 'ten' }, 'amount'],
  ['an unknown method', only('DOGE-CHAIN'), 'checkout.paymentMethods[0]'],
  ['half a minute less', { checkout: { expirationMinutes: 0.4 } }, 'checkout.expirationMinutes'],
  ['metadata that is none', { metadata: 'x' }, 'metadata'],
])('an invoice with %s is refused, and the field named', async (_what, body, path) => {
  const { call } = await begin()
  const answer = await call(`POST ${invoices}`, { amount: '1', currency: 'USD', ...body })
  expect(answer).toMatchObject({ status: 422, body: [{ path }] })
})

test('what cannot be done to an invoice is told', async () => {
  const { call, create } = await begin()
  const { id } = await create()
  const pay = (body: object) => call(`POST /sandbox/invoices/${id}/pay`, body)
  for (const amount of ['0', '-1', '0.000000001', 'x', '']) {
    expect(await pay({ amount })).toMatchObject({ status: 422, body: [{ path: 'amount' }] })
  }
  expect(await pay({ coin: 'LTC' })).toMatchObject({ status: 422, body: [{ path: 'coin' }] })
  expect((await pay({ ammount: '1' })).status).toBe(422)
  expect((await call('POST /sandbox/rates', { BTC: '0' })).status).toBe(422)
  const missing = { status: 403, body: { code: 'missing-permission' } }
  expect(await call('GET /api/v1/invoices/nothing')).toMatchObject(missing)
  const euros = await call(`POST ${invoices}`, { amount: '1', currency: 'EUR' })
  expect(euros).toMatchObject({ status: 400, body: { code: 'rate-unavailable' } })
})

test('a call can fail, be cut off before or after its deed, or hang, for what it is set and so often', async () => {
  const { call, create } = await begin()
  const listed = async () => (await call(`GET ${invoices}`)).body.length
  await call('POST /sandbox/faults', { mode: 'error', times: 2, only: 'POST /api' })
  for (const _ of [1, 2]) expect((await call(`POST ${invoices}`, {})).status).toBe(500)
  await call('POST /sandbox/faults', { mode: 'drop', only: 'POST /api' })
  await expect(create()).rejects.toThrow()
  expect(await listed()).toBe(0)
  await call('POST /sandbox/faults', { mode: 'lose', only: 'POST /api' })
  await expect(create()).rejects.toThrow()
  expect(await listed()).toBe(1)
  await call('POST /sandbox/faults', { mode: 'hang', only: 'POST /api' })
  const hanging = create().then(
    () => 'answered',
    () => 'cut off',
  )
  const isTaken = async () => (await call('GET /sandbox/faults')).body.requests.length === 0
  await until(async () => (await isTaken()) || undefined)
  expect(await listed()).toBe(1)
  void hanging
  await call('POST /sandbox/faults', { mode: 'error', times: 9 })
  expect((await call('DELETE /sandbox/faults')).body).toEqual({ requests: [], webhooks: [] })
  await create()
  expect(await listed()).toBe(2)
})

test('nobody gets in without the key, and a body that is no JSON is told so', async () => {
  const { call, url } = await begin()
  for (const key of ['', 'wrong', `${apiKey}2`]) {
    expect(await call(`GET ${invoices}`, undefined, key)).toMatchObject({ status: 401 })
  }
  expect((await call('GET /api/v1/health', undefined, '')).body).toEqual({ synchronized: true })
  expect((await call('DELETE /api/v1/pull-payments/x', undefined, '')).status).toBe(401)
  const headers = { authorization: `token ${apiKey}`, 'content-type': 'application/json' }
  const broken = await fetch(`${url}${invoices}`, { method: 'POST', headers, body: '{"amount":' })
  expect(broken.status).toBe(422)
})
