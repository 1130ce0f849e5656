import { createHmac, randomBytes } from 'node:crypto'
import type { OrderId } from '../../lib/ids.ts'
import type { Digest, Vault } from '../../secrets/secrets.ts'
import type { Reporter } from '../ports.ts'
import { createSweeper, type Sweeper } from '../workflow.ts'
import {
  type Delivery,
  type DeliveryResult,
  maxRetryAfterMs,
  type NewWebhook,
  type PostResult,
  type PostWebhook,
  type WebhookCall,
  type WebhookStore,
} from './ports.ts'

export interface SenderDeps {
  readonly webhooks: Pick<WebhookStore, 'claimDue' | 'end'>
  readonly post: PostWebhook
  readonly vault: Pick<Vault, 'open'>
  readonly now: () => Date
  readonly report: Reporter
  readonly count: (outcome: 'delivered' | 'failed' | 'given_up') => void
  readonly random?: () => number
}

const maxAtOnce = 50

/** Sends due events. A receiver that does not answer holds up only its own events. */
export function createWebhookSender(deps: SenderDeps): Sweeper {
  return createSweeper({
    claimDue: (limit) => deps.webhooks.claimDue(limit),
    handle: (delivery) => deliver(deps, delivery),
    failed: ({ order }, error) => deps.report({ name: 'webhook_step_failed', order, error }),
    atOnce: maxAtOnce,
  })
}

/** Tries once. If this node or the database fails before the end, the event is tried again. */
export async function deliver(deps: SenderDeps, delivery: Delivery): Promise<void> {
  const { order } = delivery
  const result = resultOf(await postDelivery(deps, delivery), () =>
    backOffMs(delivery.attempts, (deps.random ?? Math.random)()),
  )
  const isGivenUp = await deps.webhooks.end(delivery, result)
  deps.count(isGivenUp ? 'given_up' : result.type === 'delivered' ? 'delivered' : 'failed')
  if (isGivenUp) deps.report({ name: 'webhook_given_up', order, answer: result.answer })
}

async function postDelivery(
  { vault, post, now }: SenderDeps,
  delivery: Delivery,
): Promise<PostResult> {
  const { order, target: sealed } = delivery
  let target: WebhookTarget
  try {
    target = vault.open(sealed, { order, field: 'webhook' }) as WebhookTarget
  } catch {
    // The key that sealed it is lost, or this node does not have it yet.
    return { failure: 'webhook_unreadable' }
  }
  return post(signedCall(delivery, target, now()))
}

/** Any 2xx means delivered, and 410 never again (Standard Webhooks). A receiver may only ask for a longer wait. */
function resultOf(response: PostResult, backOff: () => number): DeliveryResult {
  if ('failure' in response)
    return { type: 'failed', answer: response.failure, againInMs: backOff() }
  const { status, retryAfterMs = 0 } = response
  const answer = `HTTP ${status}`
  if (status >= 200 && status < 300) return { type: 'delivered', answer }
  return status === 410
    ? { type: 'gone', answer }
    : {
        type: 'failed',
        answer,
        againInMs: Math.max(backOff(), Math.min(retryAfterMs, maxRetryAfterMs)),
      }
}

export interface WebhookTarget {
  readonly url: string
  readonly secret: string
}

const secretPrefix = 'whsec_'

/** The webhook of a new order, with its signing secret: 32 random bytes, as Standard Webhooks writes them. */
export function newWebhookFor(
  { vault, digest }: { readonly vault: Pick<Vault, 'seal'>; readonly digest: Pick<Digest, 'of'> },
  order: OrderId,
  url: string | undefined,
): { readonly secret: string; readonly kept: NewWebhook } | undefined {
  if (url === undefined) return undefined
  const secret = secretPrefix + randomBytes(32).toString('base64')
  const target: WebhookTarget = { url, secret }
  const receiver = digest.of(`webhook ${new URL(url).hostname}`)
  return { secret, kept: { target: vault.seal(target, { order, field: 'webhook' }), receiver } }
}

/** As Standard Webhooks says: HMAC-SHA256 over id, timestamp and body. Every attempt has the same body. */
export function signedCall(
  { id, type, at, data }: Pick<Delivery, 'id' | 'type' | 'at'> & { readonly data: object },
  target: WebhookTarget,
  now: Date,
): WebhookCall {
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
  const timestamp = String(Math.floor(now.getTime() / 1_000))
  const key = Buffer.from(target.secret.slice(secretPrefix.length), 'base64')
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    url: target.url,
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${mac}`,
    },
  }
}

const firstRetryMs = 5_000
const maxRetryMs = 3_600_000

/** Doubled each time up to an hour, less a random part of up to a half: events that failed together spread out. */
export function backOffMs(attempts: number, random: number): number {
  const most = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempts - 1))
  return Math.round(most * (1 - random / 2))
}
