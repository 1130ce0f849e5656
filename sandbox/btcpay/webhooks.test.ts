import { expect, test } from 'vitest'
import { until } from '../waiting.fixture.ts'
import { startWithReceiver, storeId } from './client.fixture.ts'

const start = startWithReceiver()

async function begin(retryMs: readonly number[] = [], answer?: (count: number) => number) {
  const { call, receiver } = await start({ retryMs }, answer)
  const create = async () =>
    (await call(`POST /api/v1/stores/${storeId}/invoices`, { amount: '5' })).body
  const expire = (id: string) => call(`POST /sandbox/invoices/${id}/expire`)
  const count = (wanted: number) =>
    until(() => (receiver.received.length >= wanted ? true : undefined))
  return { count, create, expire, receiver }
}

test('are delivered again, under a new id and as a redelivery, until they are taken', async () => {
  const { count, create, receiver } = await begin([1, 1, 1], (n) => (n <= 2 ? 503 : 200))
  await create()
  await count(3)
  const [first, ...again] = receiver.received.map(({ event }) => event)
  const { invoiceId, deliveryId: originalDeliveryId } = first
  expect(first).toMatchObject({ isRedelivery: false, originalDeliveryId })
  for (const one of again)
    expect(one).toMatchObject({ isRedelivery: true, originalDeliveryId, invoiceId })
  expect(new Set(receiver.received.map(({ event }) => event.deliveryId)).size).toBe(3)
  expect(receiver.received.every(({ isSigned }) => isSigned)).toBe(true)
})

test('are not sent again when they are refused for good, and come in order', async () => {
  const { count, create, expire, receiver } = await begin([1, 1], (n) => (n === 1 ? 400 : 200))
  const { id } = await create()
  await expire(id)
  await count(2)
  expect(receiver.types()).toEqual(['InvoiceCreated', 'InvoiceExpired'])
})
