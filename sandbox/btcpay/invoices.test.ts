import { afterEach, expect, test } from 'vitest'
import { ask, startReceiver, startTestBtcpay, storeId, until } from './client.fixture.ts'
import type { BtcpayOptions } from './options.ts'

const started: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of started.splice(0)) await each.stop()
})

async function begin(options: Partial<BtcpayOptions> = {}) {
  const receiver = await startReceiver()
  const server = await startTestBtcpay({ webhook: receiver.webhook, ...options })
  started.push(server, receiver)
  const call = (what: string, body?: unknown) => ask(server.url, what, body)
  const create = async (body: object = {}) => {
    const request = { amount: '25.00', currency: 'USD', ...body }
    return (await call(`POST /api/v1/stores/${storeId}/invoices`, request)).body
  }
  const read = async (id: string) => (await call(`GET /api/v1/invoices/${id}`)).body
  const methods = async (id: string) =>
    (await call(`GET /api/v1/invoices/${id}/payment-methods`)).body
  const status = (id: string, wanted: string) =>
    until(async () => {
      const invoice = await read(id)
      return invoice.status === wanted ? invoice : undefined
    })
  return { call, create, methods, read, receiver, server, status }
}

const only = (method: string) => ({ checkout: { paymentMethods: [method] } })

test('an invoice that is paid is processing, then settled, and the webhook tells it', async () => {
  const { call, create, methods, receiver, status } = await begin()
  const metadata = { orderId: 'order-1' }
  const invoice = await create({ ...only('BTC-CHAIN'), metadata })
  expect(invoice).toMatchObject({ status: 'New', amount: '25', currency: 'USD', metadata })
  const [method] = await methods(invoice.id)
  expect(method).toMatchObject({ rate: '64392.23', amount: '0.00038825', due: '0.00038825' })

  const paid = await call(`POST /sandbox/invoices/${invoice.id}/pay`)
  expect(paid.body.invoice.status).toBe('Processing')
  expect((await status(invoice.id, 'Settled')).additionalStatus).toBe('None')
  const [after] = await methods(invoice.id)
  expect(after).toMatchObject({ paymentMethodPaid: method.amount, due: '0' })
  expect(after.payments).toMatchObject([{ status: 'Settled', value: method.amount }])
  expect(after.payments[0].id).toBe(`${paid.body.transaction}-0`)
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
