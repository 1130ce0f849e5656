/**
 * Waits for the answer up to a timeout. An answer that has arrived in time counts even when this
 * process was too busy to handle it: a busy caller says nothing about the other side.
 *
 * @param timeoutMessage the message of the error after the timeout
 * @throws after `ms`, or with the rejection of `answer`
 */
export async function within<T>(
  ms: number,
  answer: Promise<T>,
  timeoutMessage: string,
): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  // After a long turn of the event loop Node runs timers before pending input, and immediates after it.
  const timer = setTimeout(() => setImmediate(() => reject(new Error(timeoutMessage))), ms)
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
