import { Refusal } from '../primitives/refusal.ts'

/** A part of the store is away, and the same request may succeed in a moment. */
export function notNow(what: string, charged: 'no' | 'unknown'): Refusal {
  const message = `${what} Send the same request again.`
  return new Refusal('try_again', message, { charged, retryAfterSeconds: 5 })
}
