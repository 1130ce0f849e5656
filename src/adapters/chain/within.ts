import { setTimeout as delay } from 'node:timers/promises'

/**
 * How long one step of an order may take here. Its calls are bounded one by one, but a node that is slow
 * at every one of them would hold an order beyond its lease. Whoever has the lease looks where a payment
 * stands, collects one that vanished again, and asks the supplier: two steps here and one call there.
 */
export const maxStepMs = 17_000

/** What the work gives, or `late` where it takes too long. It goes on meanwhile: it may be repeated. */
export async function withinStep<T>(work: Promise<T>, late: T, maxMs = maxStepMs): Promise<T> {
  const ended = new AbortController()
  const waited = delay(maxMs, late, { signal: ended.signal }).catch(() => late)
  try {
    return await Promise.race([work, waited])
  } finally {
    ended.abort()
  }
}
