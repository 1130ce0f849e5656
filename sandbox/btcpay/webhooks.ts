import { createHmac } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { BtcpayOptions } from './deps.ts'
import { newId } from './ledger.ts'

export interface StoreEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** The real server's waits, in milliseconds. After the last try it gives up. */
const ladder = [10, 60, 600, 600, 600, 600, 600, 600].map((s) => s * 1_000)
const timeoutMs = 10_000

/**
 * The deliveries to the store's own webhook. They come one after another, as on the real server: a delivery that must
 * be retried holds up all that follow.
 */
export function createWebhooks(
  webhook: BtcpayOptions['webhook'],
  retryMs: readonly number[] = ladder,
) {
  if (!webhook) return { notify: () => {}, stop: () => {} }
  const stopping = new AbortController()
  let queue = Promise.resolve()

  const deliver = async (first: StoreEvent): Promise<void> => {
    let delivery = first
    for (const waitMs of [0, ...retryMs]) {
      await pause(waitMs, stopping.signal)
      if (stopping.signal.aborted) return
      const status = await send(webhook, delivery, stopping.signal)
      // The real server retries after 5xx, 408, 429 and no answer.
      if (status > 0 && status < 500 && status !== 408 && status !== 429) return
      delivery = { ...delivery, deliveryId: newId(), isRedelivery: true }
    }
  }
  return {
    notify(event: StoreEvent): void {
      const first = firstOf(event)
      queue = queue.then(() => deliver(first))
    },
    stop: () => stopping.abort(),
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return
  try {
    await wait(ms, undefined, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function firstOf(event: StoreEvent): StoreEvent {
  const id = newId()
  return {
    deliveryId: id,
    webhookId,
    originalDeliveryId: id,
    isRedelivery: false,
    timestamp: Math.floor(Date.now() / 1_000),
    ...event,
  }
}

export const webhookId = 'sandbox-store'

/** Posts one delivery. @returns the status of the answer; 0 without one */
async function send(
  { url, secret }: NonNullable<BtcpayOptions['webhook']>,
  event: StoreEvent,
  stopping: AbortSignal,
): Promise<number> {
  const body = JSON.stringify(event, null, 2)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  const headers = { 'content-type': 'application/json', 'BTCPay-Sig': `sha256=${signature}` }
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)])
  try {
    const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.status
  } catch {
    return 0
  }
}
