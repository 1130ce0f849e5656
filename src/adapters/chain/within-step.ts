import { setTimeout as delay } from 'node:timers/promises'

/**
 * How long one step of an order may take here. Each call is bounded, but a node that is slow at every call
 * would hold an order beyond its lease. The holder of the lease checks the confirmation of a payment,
 * collects one that vanished again, and asks the supplier: two steps here and one call there.
 */
export const maxStepMs = 17_000

/** The result of the work, or `late` if it takes too long. The work then goes on, so it must be safe to repeat. */
export async function withinStep<T>(work: Promise<T>, late: T, maxMs = maxStepMs): Promise<T> {
  const ended = new AbortController()
  const waited = delay(maxMs, late, { signal: ended.signal }).catch(() => late)
  try {
    return await Promise.race([work, waited])
  } finally {
    ended.abort()
  }
}
