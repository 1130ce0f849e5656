import { setTimeout as delay } from 'node:timers/promises'

/**
 * How long one step of an order may take here; an order's lease is longer. Its calls are bounded one
 * by one, but a node that is slow at every one of them would hold an order beyond its lease.
 */
export const stepMostMs = 30_000

/** What the work gives, or `late` where it takes too long. It goes on meanwhile: it may be repeated. */
export async function withinStep<T>(work: Promise<T>, late: T, mostMs = stepMostMs): Promise<T> {
  const ended = new AbortController()
  const waited = delay(mostMs, late, { signal: ended.signal }).catch(() => late)
  try {
    return await Promise.race([work, waited])
  } finally {
    ended.abort()
  }
}
