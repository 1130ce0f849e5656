import { createHmac, randomBytes } from 'node:crypto'
import type { Delivery, WebhookCall } from './ports.ts'

export interface WebhookTarget {
  readonly url: string
  readonly secret: string
}

const secretPrefix = 'whsec_'

/** Creates a signing secret: 32 random bytes, as Standard Webhooks writes them. */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64')
}

/**
 * One attempt to deliver an event, signed as Standard Webhooks says: HMAC-SHA256 over id, timestamp and
 * body (https://github.com/standard-webhooks/standard-webhooks, spec). Every attempt has the same body.
 */
export function callFor(
  { id, type, at, data }: Delivery,
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
