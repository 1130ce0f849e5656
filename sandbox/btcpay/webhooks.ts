import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { StoreEvent } from './events.ts'
import type { Faults } from './faults.ts'
import { newId } from './ids.ts'
import type { Ledger } from './ledger.ts'
import type { Delivery, Webhook } from './models.ts'
import { seconds } from './views.ts'

export interface Webhooks {
  /** Sends an event to every webhook that is registered for it. */
  notify(event: StoreEvent): void
  /** Sends a delivery again, as a new one. @returns its id */
  redeliver(delivery: Delivery): string | undefined
  /** Sends a delivery with an invalid signature, made with another secret. */
  forge(event: StoreEvent): Promise<readonly number[]>
  /** Ends all waiting and running deliveries. */
  stop(): void
}

/** The real server's waits, in milliseconds. After the last try it gives up. */
const ladder = [10, 60, 600, 600, 600, 600, 600, 600].map((s) => s * 1_000)
const timeoutMs = 10_000

interface Sending {
  readonly webhook: Webhook
  readonly type: string
  readonly body: string
  readonly id: string
}

export function createWebhooks(
  ledger: Ledger,
  faults: Faults,
  retryMs: readonly number[] = ladder,
): Webhooks {
  const stopping = new AbortController()
  /**
   * One delivery after another for each webhook, as on the real server: a delivery that must be retried holds up all
   * that follow.
   */
  const queues = new Map<string, Promise<void>>()

  const enqueue = (sending: Sending) => {
    const before = queues.get(sending.webhook.id) ?? Promise.resolve()
    queues.set(
      sending.webhook.id,
      before.then(() => deliver(sending)),
    )
  }
  const deliver = async (sending: Sending): Promise<void> => {
    let next: Sending | undefined = sending
    for (const wait of [0, ...retryMs]) {
      await pause(wait, stopping.signal)
      if (stopping.signal.aborted || !next) return
      next = await attempt(next)
    }
  }
  /** @returns the delivery to retry, if it failed */
  const attempt = async (sending: Sending): Promise<Sending | undefined> => {
    const { delivery, isAgain } = await send(sending, stopping.signal)
    if (stopping.signal.aborted) return undefined
    ledger.commit(delivery)
    const { webhook } = sending
    return isAgain && webhook.automaticRedelivery ? again(webhook, delivery) : undefined
  }
  const start = (webhook: Webhook, event: StoreEvent) => {
    const fault = faults.webhooks.take(event.type)
    if (fault?.mode === 'lose') return
    const sending = first(webhook, event)
    enqueue(sending)
    if (fault?.mode === 'double') enqueue(sending)
  }
  const registered = () =>
    ledger.all('webhook').filter(({ enabled, removed }) => enabled && !removed)

  return {
    notify(event) {
      for (const webhook of registered()) if (wants(webhook, event.type)) start(webhook, event)
    },
    redeliver(delivery) {
      const webhook = ledger.find('webhook', delivery.webhookId)
      if (!webhook || webhook.removed) return undefined
      const sending = again(webhook, delivery)
      enqueue(sending)
      return sending.id
    },
    async forge(event) {
      const sent = registered().map(async (webhook) => {
        const forged = first({ ...webhook, secret: `${webhook.secret}?` }, event)
        return (await send(forged, stopping.signal)).delivery.httpCode ?? 0
      })
      return Promise.all(sent)
    },
    stop: () => stopping.abort(),
  }
}

/** Waits; a stop of the server ends the wait. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return
  try {
    await wait(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function wants({ everything, specificEvents }: Webhook, type: string): boolean {
  return everything || specificEvents.includes(type)
}

function first(webhook: Webhook, event: StoreEvent): Sending {
  const id = newId()
  const envelope = {
    deliveryId: id,
    webhookId: webhook.id,
    originalDeliveryId: id,
    isRedelivery: false,
    timestamp: seconds(Date.now()),
  }
  return { webhook, type: event.type, id, body: JSON.stringify({ ...envelope, ...event }, null, 2) }
}

function again(webhook: Webhook, delivery: Delivery): Sending {
  const id = newId()
  const event = JSON.parse(delivery.body) as StoreEvent
  const body = { ...event, deliveryId: id, isRedelivery: true }
  return { webhook, type: event.type, id, body: JSON.stringify(body, null, 2) }
}

/** Posts one delivery. The real server retries after 5xx, 408, 429 and no answer. */
async function send({ webhook, body, id }: Sending, stopping: AbortSignal) {
  const signature = createHmac('sha256', webhook.secret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'BTCPay-Sig': `sha256=${signature}` }
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)])
  const at = Date.now()
  const known = {
    type: 'delivery',
    id,
    webhookId: webhook.id,
    createdAt: at,
    sentAt: at,
    body,
  } as const
  try {
    const request = { method: 'POST', body, headers, signal, redirect: 'manual' } as const
    const response = await fetch(webhook.url, request)
    await response.body?.cancel()
    const { status: httpCode, ok } = response
    const outcome = ok
      ? ({ status: 'HttpSuccess', errorMessage: null } as const)
      : ({ status: 'HttpError', errorMessage: `HTTP Error Code ${httpCode}` } as const)
    const delivery: Delivery = { ...known, ...outcome, httpCode }
    return { delivery, isAgain: httpCode >= 500 || httpCode === 408 || httpCode === 429 }
  } catch (error) {
    const errorMessage = error instanceof Error ? error.message : String(error)
    const delivery: Delivery = { ...known, status: 'Failed', httpCode: null, errorMessage }
    return { delivery, isAgain: true }
  }
}
