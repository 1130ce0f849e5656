import { Refusal } from '../primitives/refusal.ts'

/** A part of the store is away, and the same request may succeed in a moment. */
export function notNow(what: string, charged: 'no' | 'unknown'): Refusal {
  const message = `${what} Send the same request again.`
  return new Refusal('try_again', message, { charged, retryAfterSeconds: 5 })
}

/** Nothing is sold just now, whatever is asked for. */
export function storePaused(): Refusal {
  return new Refusal('store_paused', 'The store takes no purchases just now.', {
    retryAfterSeconds: 60,
    extra: { agent_action: 'stop' },
  })
}
