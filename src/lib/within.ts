/** A timeout is counted in so many parts. A turn of the event loop uses up one of them at most, however long it takes. */
const parts = 10

/**
 * Waits for the answer up to a timeout. Only time in which this process could handle answers counts: a
 * busy caller says nothing about the other side.
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
  let left = parts
  let timer = setTimeout(pass, ms / parts)
  function pass() {
    left -= 1
    // After a long turn of the event loop Node runs timers before pending input, and immediates after it.
    if (left === 0) setImmediate(() => reject(new Error(timeoutMessage)))
    else timer = setTimeout(pass, ms / parts)
  }
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
