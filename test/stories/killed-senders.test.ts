import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receiver, receiverCertificate, startReceiver } from '../harness/receiver.ts'
import { newBuyer } from './buyer.ts'
import { type ChildNode, startChild } from './child-node.ts'
import { reserveEventsFor } from './held-write.ts'
import { bodyFor, buy, eventually, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

// A node is killed while it has something to tell a buyer's webhook. What an order became is on record with the
// events of it, so another node tells them.

let receiver: Receiver
let store: Store
let isHeard = true

beforeAll(async () => {
  receiver = await startReceiver(() => (isHeard ? { status: 204 } : 'never'))
  const receivers = {
    resolve: async () => ['127.0.0.1'],
    ca: receiverCertificate,
    timeoutMs: 60_000,
  }
  store = await openStore({ receivers })
})
afterAll(async () => {
  await store.close()
  await receiver.stop()
})

/** Another node, the only one that takes events until it is killed. */
async function onlySender() {
  const databaseUrl = `${store.settings.databaseUrl}?application_name=mortal`
  const node = await startChild(store, { through: { databaseUrl } })
  const giveToAll = await reserveEventsFor(store, 'mortal')
  return {
    node,
    async kill() {
      await node.kill()
      await giveToAll()
    },
  }
}

/** Buys a voucher at that node, to its end. */
async function boughtAt({ url }: Pick<ChildNode, 'url'>, path: string) {
  const webhookUrl = `https://hooks.example.com:${receiver.port}${path}`
  const body = { ...bodyFor('voucher', 'OK'), webhookUrl }
  const { answer } = await buy({ url }, await newBuyer(), 'voucher', body)
  const { orderId } = answer.body
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
}

/** The events that arrived there, in order. */
const arrivedAt = (path: string) =>
  receiver.received
    .filter((call) => call.path === path)
    .map(({ headers, body }) => ({ id: headers['webhook-id'], type: JSON.parse(body).type }))

const types = ['order.paid', 'order.fulfilling', 'order.fulfilled']

test('a node killed between what an order became and the first word of it: another one tells all', async () => {
  const giveToAll = await reserveEventsFor(store, 'nobody')
  const { node, kill } = await onlySender()
  await boughtAt(node, '/untold')
  await kill()
  expect(arrivedAt('/untold')).toEqual([])

  await giveToAll()
  await eventually(
    () => arrivedAt('/untold'),
    (events) => events.length === types.length,
  )
  expect(arrivedAt('/untold').map(({ type }) => type)).toEqual(types)
})

test('a node killed before a receiver answered it: another one sends the event again, under its id', async () => {
  isHeard = false
  const { node, kill } = await onlySender()
  await boughtAt(node, '/unheard')
  const [first] = await eventually(
    () => arrivedAt('/unheard'),
    (events) => events.length === 1,
  )
  await kill()
  isHeard = true
  await store.query('update webhook_events set locked_until = now() where locked_until > now()')
  await eventually(
    () => arrivedAt('/unheard'),
    (events) => events.length === 1 + types.length,
  )
  expect(arrivedAt('/unheard').map(({ type }) => type)).toEqual(['order.paid', ...types])
  expect(arrivedAt('/unheard')[1]).toEqual(first)
})
