import * as z from 'zod'
import type { OrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import {
  type EventStanding,
  redeliverEveryMs,
  type WebhookStanding,
} from '../../orders/webhooks/ports.ts'
import { orderId, viewerHeaders } from '../buying/credentials.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { BuyingDeps } from '../deps.ts'
import { answers, type Call, type OrderOperation } from '../operation.ts'
import { redeliverPath, webhookPath } from '../paths.ts'
import { namedOrder } from './find-orders.ts'

const time = z.iso.datetime()

/** The webhook of an order, and the deliveries of its events. */
const WebhookAnswer = z
  .object({
    state: z
      .enum(['active', 'over_limit', 'gone'])
      .describe('over_limit: it gets nothing, as its wallet has too many. gone: it answered 410'),
    events: z.array(
      z.object({
        id: z.string().describe('The webhook-id, the same in every attempt'),
        type: z.string().describe('order. and the new state, such as order.fulfilled'),
        timestamp: time,
        state: z.enum(['pending', 'delivered', 'given_up']),
        attempts: z.int().min(0),
        last_attempt_at: time.nullable(),
        last_answer: z.string().nullable().describe('The status of the answer, or a code'),
        next_attempt_at: time.nullable(),
      }),
    ),
  })
  .meta({ id: 'WebhookAnswer' })

const ofOwnOrder = {
  group: 'Orders',
  pathParams: orderId,
  headers: viewerHeaders,
  access: 'free',
} as const

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
  path: webhookPath('{orderId}'),
  name: 'Webhook of an order',
  description:
    'What became of the events that were sent to the webhookUrl of a purchase, for whoever shows that the order is theirs.',
  answers: answers('The webhook', WebhookAnswer),
  refusals,
  limit: 'reading',
  async run(call, deps) {
    return { body: await confirmationOf(await ownOrder(call, deps), call, deps) }
  },
}

export const redeliverWebhook: OrderOperation = {
  ...ofOwnOrder,
  id: 'redeliverWebhook',
  method: 'POST',
  path: redeliverPath('{orderId}'),
  name: 'Send events again',
  description:
    'Sends all events of an order to its webhook again, in order, each with the webhook-id that it has. At most once a minute.',
  answers: { 202: { description: 'They are being sent', shape: WebhookAnswer } },
  refusals: [
    ...refusals,
    'unknown_parameter',
    'invalid_json',
    'unsupported_media_type',
    'body_too_large',
  ],
  limit: 'purchase',
  async run(call, deps) {
    if (Object.keys(call.fields()).length > 0) {
      const message = 'The body must be empty: all events of the order are sent again.'
      throw new Refusal('unknown_parameter', message)
    }
    const id = await ownOrder(call, deps)
    const done = await orNotNow(call.log, () => deps.webhooks.redeliver(id))
    if (done === 'none') throw noWebhook()
    if (done === 'too_soon') throw tooSoon()
    return { status: 202, body: await confirmationOf(id, call, deps) }
  },
}

async function ownOrder(call: Call, deps: BuyingDeps): Promise<OrderId> {
  const { order, reveal } = await namedOrder(call, deps)
  if (!reveal) throw noWebhook()
  return order.id
}

async function confirmationOf(order: OrderId, { log }: Call, { webhooks }: BuyingDeps) {
  const standing = await orNotNow(log, () => webhooks.find(order))
  if (standing === undefined) throw noWebhook()
  return webhookAnswer(standing)
}

function webhookAnswer({ state, events }: WebhookStanding): z.infer<typeof WebhookAnswer> {
  return { state, events: events.map(eventAnswer) }
}

function eventAnswer({ id, type, at, state, ...tried }: EventStanding) {
  return {
    id,
    type,
    timestamp: at.toISOString(),
    state,
    attempts: tried.attempts,
    last_attempt_at: tried.attemptedAt?.toISOString() ?? null,
    last_answer: tried.answer ?? null,
    next_attempt_at: tried.nextAttemptAt?.toISOString() ?? null,
  }
}

function tooSoon(): Refusal {
  const retryAfterSeconds = redeliverEveryMs / 1_000
  const message = `The events of an order are sent again at most every ${retryAfterSeconds} seconds.`
  return new Refusal('rate_limited', message, { retryAfterSeconds })
}

/** The same refusal for an order without a webhook and for one that is not the caller's. */
function noWebhook(): Refusal {
  const message =
    'This order has no webhook that takes events, or nothing shows that the order is yours: send its accessToken or a sign-in of the paying wallet.'
  return new Refusal('no_webhook', message)
}
