import { randomUUID } from 'node:crypto'
import { createTimers } from '../timers.ts'
import type { Purchase } from './models.ts'

/** Where and how the supplier reports changes of purchases. */
export interface WebhookOptions {
  readonly url: string
  readonly headerName: string
  readonly headerValue: string
  /** Waits between attempts, in milliseconds; after the last one the report is dropped. */
  readonly retryMs?: readonly number[]
}

/** How long Zendit waits before each further try, in milliseconds. */
const ladder = [1, 10, 60, 600, 1_800, 3_600, 10_800, 21_600, 43_200].map((s) => s * 1000)
const longestQueue = 10_000
const timeoutMs = 10_000

/**
 * Reports each change to the configured URL as a POST of the record, with the configured header. A HEAD request
 * verifies the URL before the first report. A report that is not answered 2xx in time is sent again after each wait of
 * the ladder.
 */
export function createWebhooks(options: WebhookOptions | undefined) {
  if (!options) return { notify: () => {}, stop: () => {} }
  const { url, headerName, headerValue, retryMs = ladder } = options
  const timers = createTimers()
  const stopping = new AbortController()
  const waiting = new Set<string>()
  const verified = { done: false }

  const attempt = async (id: string, body: string, tries: number): Promise<void> => {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)])
    if (!verified.done && (await answersOk(url, { method: 'HEAD', signal }))) {
      verified.done = true
    }
    const headers = { 'content-type': 'application/json', [headerName]: headerValue }
    const post = { method: 'POST', body, headers, signal }
    const arrived = verified.done && (await answersOk(url, post))
    const wait = retryMs[tries]
    if (arrived || wait === undefined || stopping.signal.aborted) {
      waiting.delete(id)
      return
    }
    timers.set(id, wait, () => void attempt(id, body, tries + 1))
  }

  return {
    notify(record: Purchase): void {
      if (waiting.size >= longestQueue) return
      const id = randomUUID()
      waiting.add(id)
      void attempt(id, JSON.stringify(record), 0)
    },
    stop(): void {
      stopping.abort()
      timers.stop()
    },
  }
}

/** Whether the request is answered 2xx. Any failure to connect counts as no, because the ladder retries. */
async function answersOk(url: string, request: RequestInit): Promise<boolean> {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual' })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
