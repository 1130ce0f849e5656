import { Refusal } from '../../lib/refusal.ts'
import type { FaultLog } from '../deps.ts'

/**
 * Looks something up for whoever asks about an order. When the records cannot be read just now,
 * the asker hears that the same call will do later; what went wrong is for the operator.
 *
 * @param charged whether money moved, on paths that say so: nobody knows while nothing can be read
 * @throws Refusal `try_again`, besides what `look` throws
 */
export async function orNotNow<T>(
  log: FaultLog,
  look: () => Promise<T>,
  charged?: 'unknown',
): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Refusal) throw error
    log.error({ err: error }, 'orders not readable')
    const message = 'The orders cannot be read just now. Send the same request again.'
    throw new Refusal('try_again', message, {
      retryAfterSeconds: 5,
      ...(charged === undefined ? {} : { charged }),
    })
  }
}
