import { Refusal } from '../../lib/refusal.ts'
import type { FaultLog } from '../deps.ts'

/**
 * Looks something up about an order. If the records cannot be read, the caller is told to send the same call later, and
 * the reason is logged.
 *
 * @param charged the `charged` of the refusal, on paths that report it: unknown while nothing can be read
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
