import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { storeId } from './client.fixture.ts'
import { symbols } from './coins.ts'
import { heardBtcpay } from './heard.fixture.ts'
import type { BtcpayOptions } from './options.ts'

const start = heardBtcpay()
const invoices = `/api/v1/stores/${storeId}/invoices`

async function begin(options: Partial<BtcpayOptions> = {}) {
  const { call, receiver } = await start(options)
  const create = async (body: object = {}) => {
    const request = { amount: '25.00', currency: 'USD', ...only('BTC-CHAIN'), ...body }
    return (await call(`POST ${invoices}`, request)).body
  }
  const read = async (id: string) => (await call(`GET /api/v1/invoices/${id}`)).body
  const method = async (id: string) =>
    (await call(`GET /api/v1/invoices/${id}/payment-methods`)).body[0]
  const become = (id: string, wanted: object) =>
    until(async () => {
      const invoice = await read(id)
      const fits = Object.entries(wanted).every(([name, value]) => invoice[name] === value)
      return fits ? invoice : undefined
    })
  const act = async (id: string, action: string, body?: object) =>
    (await call(`POST /sandbox/invoices/${id}/${action}`, body)).body
  return { act, become, call, create, method, read, receiver }
}

function only(...paymentMethods: string[]) {
  return { checkout: { paymentMethods } }
}

test('an invoice that is paid is processing, then settled, and the webhook tells it', async () => {
  const { act, become, create, method, receiver } = await begin()
  const metadata = { orderId: 'order-1' }
  const invoice = await create({ metadata })
  expect(invoice).toMatchObject({ status: 'New', amount: '25', currency: 'USD', metadata })
  const asked = await method(invoice.id)
  expect(asked).toMatchObject({ rate: '64392.23', amount: '0.00038825', due: '0.00038825' })

  const paid = await act(invoice.id, 'pay')
  expect(paid.invoice.status).toBe('Processing')
  await become(invoice.id, { status: 'Settled', additionalStatus: 'None', paidAmount: '25' })
  const after = await method(invoice.id)
  expect(after).toMatchObject({ paymentMethodPaid: asked.amount, due: '0' })
  expect(after.payments).toMatchObject([{ status: 'Settled', value: asked.amount }])
  expect(after.payments[0].id).toBe(`${paid.transaction}-0`)
  await until(() => (receiver.received.length >= 5 ? true : undefined))
  expect(receiver.types()).toEqual([
    'InvoiceCreated',
    'InvoiceReceivedPayment',
    'InvoiceProcessing',
    'InvoicePaymentSettled',
    'InvoiceSettled',
  ])
  expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true)
  for (const { event } of receiver.received) {
    expect(event).toMatchObject({ invoiceId: invoice.id, storeId, metadata })
  }
})

const links = {
  BTC: /^bitcoin:bcrt1\w+\?amount=0\.00038825$/,
  LTC: /^litecoin:rltc1\w+\?amount=0\.\d+$/,
  XMR: /^monero:7\w+\?tx_amount=0\.\d+$/,
  ETH: /^ethereum:0x[\da-fA-F]{40}@11155111\?value=\d+$/,
  USDT: /^tron:T\w{33}\?amount=24\.995\d+$/,
}

test('all five coins are asked for with a link that a wallet opens, and can be paid in full', async () => {
  const { act, become, call, create } = await begin()
  for (const symbol of symbols) {
    const { id } = await create(only())
    const { body } = await call(`GET /api/v1/invoices/${id}/payment-methods`)
    const one = body.find(({ currency }: { currency: string }) => currency === symbol)
    expect(one.paymentLink).toMatch(links[symbol])
    expect(one.paymentLink).toContain(one.destination)
    await act(id, 'pay', { coin: symbol })
    await become(id, { status: 'Settled', additionalStatus: 'None' })
  }
})

test('half of the price expires partly paid, and in two halves it is paid', async () => {
  const { act, become, create, method, receiver } = await begin()
  const { id } = await create()
  await act(id, 'pay', { amount: '0.0001' })
  expect(await method(id)).toMatchObject({ due: '0.00028825', totalPaid: '0.0001' })
  await become(id, { status: 'New', additionalStatus: 'PaidPartial' })
  await act(id, 'expire')
  await become(id, { status: 'Expired', additionalStatus: 'PaidPartial' })
  const expired = await until(() =>
    receiver.received.find(({ event }) => event.type === 'InvoiceExpired'),
  )
  expect(expired.event.partiallyPaid).toBe(true)

  const other = await create()
  await act(other.id, 'pay', { amount: '0.0001' })
  await act(other.id, 'pay')
  await become(other.id, { status: 'Settled', additionalStatus: 'None' })
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
  const settled = await until(async () => {
    const { payments } = await method(twice.id)
    return payments.every(({ status }: { status: string }) => status === 'Settled')
      ? payments
      : undefined
  })
  expect(settled).toHaveLength(2)
  await become(twice.id, { status: 'Settled', additionalStatus: 'None', paidAmount: '50' })
})

test('what comes late leaves it expired, and says so', async () => {
  const { act, become, create, method, receiver } = await begin()
  const { id } = await create()
  const { seen } = await act(id, 'pay', { late: true })
  expect(seen).toBe(true)
  const invoice = await become(id, { status: 'Expired', additionalStatus: 'PaidLate' })
  const [payment] = (await method(id)).payments
  expect(payment.receivedDate).toBeGreaterThan(invoice.expirationTime)
  const received = await until(() =>
    receiver.received.find(({ event }) => event.type === 'InvoiceReceivedPayment'),
  )
  expect(received.event.afterExpiration).toBe(true)
  await until(() => (receiver.types().includes('InvoicePaymentSettled') ? true : undefined))
  await become(id, { status: 'Expired', additionalStatus: 'PaidLate' })
})

test('confirmations can be held back; without them the invoice is invalid in the end', async () => {
  const { act, become, create } = await begin()
  const one = await create()
  await act(one.id, 'pay', { confirm: false })
  await act(one.id, 'confirm')
  await become(one.id, { status: 'Settled' })

  const other = await create()
  await act(other.id, 'pay', { confirm: false })
  await act(other.id, 'forget')
  await become(other.id, { status: 'Invalid' })
})

test('nobody looks for payments any more when the watching is over, but the money is there', async () => {
  const { act, call, create, method } = await begin()
  const { id } = await create()
  await act(id, 'forget')
  const { seen, transaction } = await act(id, 'pay')
  expect(seen).toBe(false)
  expect((await method(id)).payments).toEqual([])
  const { incoming } = (await call('GET /sandbox/ledger')).body.BTC
  expect(incoming).toMatchObject([{ id: transaction, subject: id }])
})

test('the rate is that of the moment when it was made', async () => {
  const { act, become, call, create, method } = await begin()
  const before = await create()
  expect((await call('POST /sandbox/rates', { BTC: '32196.115' })).body.BTC).toBe('32196.115')
  const after = await create()
  expect(await method(before.id)).toMatchObject({ rate: '64392.23', amount: '0.00038825' })
  expect(await method(after.id)).toMatchObject({ rate: '32196.115', amount: '0.0007765' })
  await act(before.id, 'pay')
  await become(before.id, { status: 'Settled', additionalStatus: 'None' })
})

test('an operator can call it settled or invalid by hand', async () => {
  const { call, create, read } = await begin()
  const { id } = await create()
  const mark = (status: string) => call(`POST /api/v1/invoices/${id}/status`, { status })
  expect((await mark('Settled')).body).toMatchObject({
    status: 'Settled',
    additionalStatus: 'Marked',
    availableStatusesForManualMarking: ['Invalid'],
  })
  expect((await mark('Settled')).status).toBe(422)
  expect((await mark('Invalid')).body.status).toBe('Invalid')
  expect((await read(id)).availableStatusesForManualMarking).toEqual(['Settled'])
  expect((await mark('Expired')).body[0].path).toBe('status')
})

test('lists by order, by status and in pages, newest first, and without what is archived', async () => {
  const { act, call, create } = await begin()
  const ids: string[] = []
  for (const orderId of ['a', 'b', 'a']) ids.push((await create({ metadata: { orderId } })).id)
  const [first, second, third] = ids
  await act(second ?? '', 'expire')
  const list = async (query: string) =>
    (await call(`GET ${invoices}?${query}`)).body.map(({ id }: { id: string }) => id)
  expect(await list('')).toEqual([third, second, first])
  expect(await list('orderId=a')).toEqual([third, first])
  expect(await list('orderId=a&orderId=b')).toHaveLength(3)
  expect(await list('orderId=c')).toEqual([])
  expect(await list('status=Expired')).toEqual([second])
  expect(await list('skip=1&take=1')).toEqual([second])
  await call(`DELETE /api/v1/invoices/${first}`)
  expect(await list('')).toEqual([third, second])
  expect(await list('includeArchived=true')).toHaveLength(3)
  expect((await call(`GET ${invoices}?take=many`)).status).toBe(422)
})

const refused: readonly (readonly [what: string, body: object, path: string])[] = [
  ['no amount', { amount: null }, 'amount'],
  ['a negative amount', { amount: '-1' }, 'amount'],
  ['words for an amount', { amount: 'ten' }, 'amount'],
  ['an unknown method', only('DOGE-CHAIN'), 'checkout.paymentMethods[0]'],
  ['half a minute less', { checkout: { expirationMinutes: 0.4 } }, 'checkout.expirationMinutes'],
  ['a tolerance over 100', { checkout: { paymentTolerance: 101 } }, 'checkout.paymentTolerance'],
  ['metadata that is none', { metadata: 'x' }, 'metadata'],
]

test.each(refused)(
  'an invoice with %s is refused, and the field named',
  async (_what, body, path) => {
    const { call } = await begin()
    const answer = await call(`POST ${invoices}`, { amount: '1', currency: 'USD', ...body })
    expect(answer).toMatchObject({ status: 422, body: [{ path }] })
  },
)

test('what cannot be done to an invoice is told', async () => {
  const { call, create } = await begin()
  const { id } = await create()
  const pay = (body: object) => call(`POST /sandbox/invoices/${id}/pay`, body)
  for (const amount of ['0', '-1', '0.000000001', 'x', '']) {
    expect(await pay({ amount })).toMatchObject({ status: 422, body: [{ path: 'amount' }] })
  }
  expect(await pay({ coin: 'LTC' })).toMatchObject({ status: 422, body: [{ path: 'coin' }] })
  expect((await pay({ coin: 'DOGE' })).status).toBe(422)
  expect((await pay({ ammount: '1' })).status).toBe(422)
  expect((await call('POST /sandbox/rates', { BTC: '0' })).status).toBe(422)
  const missing = { status: 404, body: { code: 'invoice-not-found' } }
  expect(await call('GET /api/v1/invoices/nothing')).toMatchObject({
    status: 403,
    body: { code: 'missing-permission' },
  })
  expect(await call(`GET ${invoices}/nothing`)).toMatchObject(missing)
  expect(await call('POST /sandbox/invoices/nothing/pay')).toMatchObject(missing)
  expect(await call(`POST ${invoices}`, { amount: '1', currency: 'EUR' })).toMatchObject({
    status: 400,
    body: { code: 'rate-unavailable' },
  })
})
