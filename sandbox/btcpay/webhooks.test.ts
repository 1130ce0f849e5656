import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { ask, startReceiver, startTestBtcpay, storeId } from './client.fixture.ts'

const started = stoppedAfterEach()

async function begin(answer?: (count: number) => number, retryMs: readonly number[] = []) {
  const receiver = await startReceiver(answer)
  const server = await startTestBtcpay({ webhook: receiver.webhook, retryMs })
  started.push(server, receiver)
  const call = (what: string, body?: unknown) => ask(server.url, what, body)
  const create = async () =>
    (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '5' })).body
  const expire = (id: string) => call(`POST /sandbox/invoices/${id}/expire`)
  const count = (wanted: number) =>
    until(() => (receiver.received.length >= wanted ? true : undefined))
  return { call, count, create, expire, receiver, server }
}

test('are delivered again, under a new id and as a redelivery, until they are taken', async () => {
  const { count, create, receiver } = await begin((n) => (n <= 2 ? 503 : 200), [1, 1, 1])
  await create()
  await count(3)
  const [first, second, third] = receiver.received.map(({ event }) => event)
  expect(first).toMatchObject({ isRedelivery: false, originalDeliveryId: first.deliveryId })
  for (const again of [second, third]) {
    expect(again).toMatchObject({ isRedelivery: true, originalDeliveryId: first.deliveryId })
    expect(again.invoiceId).toBe(first.invoiceId)
  }
  expect(new Set([first.deliveryId, second.deliveryId, third.deliveryId]).size).toBe(3)
  expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true)
})

test('are not sent again when they are refused for good, and come in order', async () => {
  const { count, create, expire, receiver } = await begin((n) => (n === 1 ? 400 : 200), [1, 1])
  const { id } = await create()
  await expire(id)
  await count(2)
  expect(receiver.types()).toEqual(['InvoiceCreated', 'InvoiceExpired'])
})

test('can be lost, doubled and forged', async () => {
  const { call, count, create, expire, receiver } = await begin()
  await call('POST /sandbox/webhooks/faults', { mode: 'lose', only: 'Created' })
  await call('POST /sandbox/webhooks/faults', { mode: 'double', only: 'Expired' })
  const { id } = await create()
  await expire(id)
  await count(2)
  expect(receiver.types()).toEqual(['InvoiceExpired', 'InvoiceExpired'])
  const [one, two] = receiver.received.map(({ event }) => event.deliveryId)
  expect(one).toBe(two)
  const forged = await call('POST /sandbox/webhooks/forge', {
    type: 'InvoiceSettled',
    invoiceId: id,
  })
  expect(forged.body.answers).toEqual([200])
  expect(receiver.received[2]).toMatchObject({ isSigned: false, event: { invoiceId: id } })
  expect((await call('POST /sandbox/webhooks/faults', { mode: 'mangle' })).status).toBe(422)
})
