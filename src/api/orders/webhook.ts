import * as z from 'zod'
import type { OrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { type EventStanding, redeliverEveryMs } from '../../orders/webhooks/ports.ts'
import { orderId, viewerHeaders } from '../buying/credentials.ts'
import {
  answers,
  type BuyingDeps,
  type Call,
  type Fields,
  type OrderOperation,
  orderPath,
  publish,
  refusesBody,
  shapeOf,
  time,
} from '../operation.ts'
import { lookAtOrder } from './find-orders.ts'

const event = {
  id: [z.string().describe('The webhook-id, the same in every attempt'), ({ id }) => id],
  type: [
    z.string().describe('order. and the new state, such as order.fulfilled'),
    ({ type }) => type,
  ],
  timestamp: [time, ({ at }) => at.toISOString()],
  state: [z.enum(['pending', 'delivered', 'given_up']), ({ state }) => state],
  attempts: [z.int().min(0), ({ attempts }) => attempts],
  last_attempt_at: [time.nullable(), ({ attemptedAt }) => attemptedAt?.toISOString() ?? null],
  last_answer: [
    z.string().nullable().describe('The status of the answer, or a code'),
    ({ answer }) => answer,
  ],
  next_attempt_at: [time.nullable(), ({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? null],
} satisfies Fields<EventStanding>

const WebhookAnswer = z
  .object({
    state: z
      .enum(['active', 'over_limit', 'gone'])
      .describe('over_limit: it gets nothing, as its wallet has too many. gone: it answered 410'),
    events: z.array(shapeOf(event)),
  })
  .meta({ id: 'WebhookAnswer' })

const ofOwnOrder = {
  group: 'Orders',
  pathParams: orderId,
  headers: viewerHeaders,
  access: 'free',
} as const
const path = `${orderPath('{orderId}')}/webhook`
const refusals = [
  'invalid_header',
  'order_not_found',
  'no_webhook',
  'sign_in_invalid',
  'try_again',
] as const

export const getWebhook: OrderOperation = {
  ...ofOwnOrder,
  id: 'getWebhook',
  method: 'GET',
  path,
  name: 'Webhook of an order',
  description:
    'What became of the events that were sent to the webhookUrl of a purchase, for whoever shows that the order is theirs.',
  answers: answers('The webhook', WebhookAnswer),
  refusals,
  limit: 'reading',
  async run(call, deps) {
    return { body: await webhookOf(await ownOrder(call, deps), deps) }
  },
}

export const redeliverWebhook: OrderOperation = {
  ...ofOwnOrder,
  id: 'redeliverWebhook',
  method: 'POST',
  path: `${path}/redeliver`,
  name: 'Send events again',
  description:
    'Sends all events of an order to its webhook again, in order, each with the webhook-id that it has: at most once a minute, and each at most 100 times in all. A receiver that answered 410 gets nothing more.',
  answers: { 202: { description: 'They are being sent', shape: WebhookAnswer } },
  refusals: [...refusals, ...refusesBody],
  limit: 'purchase',
  async run(call, deps) {
    if (Object.keys(call.fields()).length > 0) {
      const message = 'The body must be empty: all events of the order are sent again.'
      throw new Refusal('unknown_parameter', message)
    }
    const id = await ownOrder(call, deps)
    const done = await deps.webhooks.redeliver(id)
    if (done === 'none') throw noWebhook()
    if (done === 'too_soon') {
      const retryAfterSeconds = redeliverEveryMs / 1_000
      const message = `The events of an order are sent again at most every ${retryAfterSeconds} seconds.`
      throw new Refusal('rate_limited', message, { retryAfterSeconds })
    }
    return { status: 202, body: await webhookOf(id, deps) }
  },
}

async function ownOrder({ orderId, readCredentials }: Call, deps: BuyingDeps): Promise<OrderId> {
  const { order, reveal } = await lookAtOrder(deps, { orderId }, readCredentials)
  if (!reveal) throw noWebhook()
  return order.id
}

async function webhookOf(order: OrderId, { webhooks }: BuyingDeps) {
  const webhook = await webhooks.find(order)
  if (webhook === undefined) throw noWebhook()
  return { state: webhook.state, events: webhook.events.map((one) => publish(event, one)) }
}

function noWebhook(): Refusal {
  const message =
    'This order has no webhook that takes events, or nothing shows that the order is yours: send its accessToken or a sign-in of the paying wallet.'
  return new Refusal('no_webhook', message)
}
