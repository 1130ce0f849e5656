/**
 * The answer, if it comes in time. What has arrived already counts, even where this process was too
 * busy to look at it: a busy process says nothing of whoever was asked.
 *
 * @param late what is said when it does not
 * @throws after so many milliseconds, or what the answer is rejected with
 */
export async function within<T>(ms: number, answer: Promise<T>, late: string): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  // After a long turn of the event loop timers come before the next input, and immediates after it.
  const timer = setTimeout(() => setImmediate(() => reject(new Error(late))), ms)
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
