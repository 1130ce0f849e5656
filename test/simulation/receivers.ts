import { createHmac } from 'node:crypto'
import type { OrderId } from '../../src/lib/ids.ts'
import { type Order, refundStateOf } from '../../src/orders/order.ts'
import type { PostWebhook, WebhookCall, WebhookData } from '../../src/orders/webhooks/ports.ts'
import type { MemoryOrders } from '../doubles/memory-orders.ts'
import type { BuyerBook } from './buyer-book.ts'
import { faultsIn } from './trace.ts'

/** A receiver that fails answers the first calls for an order with 500. */
const failingCalls = 2
const secrets = /CODE-|OK-|LPA:|Ada|50255512345/

interface Event {
  readonly timestamp: string
  readonly data: WebhookData
}

interface Received extends Event {
  readonly id: string | undefined
  readonly body: string
}

/** The receivers of the buyers' webhooks, which compare each call with the record. */
export function newReceivers({
  book,
  memory,
  complain,
}: {
  readonly book: BuyerBook
  readonly memory: MemoryOrders
  readonly complain: (what: string, order?: OrderId) => void
}) {
  const received = new Map<OrderId, Received[]>()
  const calls = new Map<OrderId, number>()

  /** What is wrong with this call, after those that the receiver took before. */
  function faultsOf(call: WebhookCall, before: readonly Received[]): string[] {
    const { data, timestamp } = JSON.parse(call.body) as Event
    const buyer = book.ofUrl(call.url)
    const latest = before.at(-1)?.timestamp ?? ''
    const same = before.find(({ body }) => body === call.body)
    return faultsIn([
      [book.ofOrder(data.orderId) !== buyer, 'an event went to somebody else'],
      [!isOnRecord(memory, data), 'an event says what the order never was'],
      [secrets.test(call.body), 'an event tells a secret'],
      [!isSigned(call, buyer?.secrets.get(data.orderId)), 'an event is not signed by its secret'],
      [same && same.id !== call.headers['webhook-id'], 'one event has two ids'],
      [!same && latest > timestamp, 'events came in another order'],
    ])
  }

  const post: PostWebhook = async (call) => {
    const { data, timestamp } = JSON.parse(call.body) as Event
    const { orderId } = data
    const nth = (calls.get(orderId) ?? 0) + 1
    calls.set(orderId, nth)
    const before = received.get(orderId) ?? []
    for (const what of faultsOf(call, before)) complain(what, orderId)
    const isFailing = book.ofUrl(call.url)?.spec.webhook === 'fails'
    if (isFailing && nth <= failingCalls) return { status: 500 }
    const { body, headers } = call
    const isNew = before.every((one) => one.body !== body)
    const entry = { id: headers['webhook-id'], body, timestamp, data }
    if (isNew) received.set(orderId, [...before, entry])
    return { status: 204 }
  }

  function checkLast(order: Order): void {
    const told = received.get(order.id)?.at(-1)?.data
    const isTrue = told?.state === order.state && told.refund_state === refundStateOf(order)
    if (!isTrue) complain(`a webhook told ${told?.state} last of ${order.state}`, order.id)
  }

  return {
    post,
    /** Every receiver must know how its order ended, unless its payer has too many webhooks. */
    async checkEnd(): Promise<void> {
      for (const order of memory.current()) {
        const webhook = await memory.webhooks.find(order.id)
        if (webhook?.state === 'active') checkLast(order)
      }
    },
  }
}

function isOnRecord({ history }: MemoryOrders, { orderId, state, refund_state }: WebhookData) {
  return history.some(
    (order) =>
      order.id === orderId && order.state === state && refundStateOf(order) === refund_state,
  )
}

/** Verifies as Standard Webhooks says. A buyer that never got the answer does not know the secret. */
function isSigned({ headers, body }: WebhookCall, secret: string | undefined): boolean {
  if (secret === undefined) return true
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const mac = createHmac('sha256', key).update(signed).digest('base64')
  return headers['webhook-signature'] === `v1,${mac}`
}
