/**
 * The same error with a message. Where a host has several addresses, Node leaves it empty and keeps what
 * became of each one in `errors`.
 */
export function withReasons(error: Error): Error {
  if (error instanceof AggregateError && error.message === '') {
    error.message = error.errors.map(({ message }) => message).join('; ')
  }
  return error
}

/**
 * Why a call with `fetch` failed, for the log: in words of ours, and of the error only a system code such as
 * ECONNRESET, because fetch quotes header values in its own.
 *
 * @param timeoutMs the limit that the call was given
 */
export function whyCallFailed(error: unknown, timeoutMs: number): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  return name === 'AbortError' ? 'the call was stopped' : whyUnreached(error)
}

/** The same of a call that neither a limit of time nor its caller ended. */
export function whyUnreached(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return 'the connection failed'
  if (cause.message === 'unexpected redirect') return 'it redirects, which is not followed'
  const code = 'code' in cause ? cause.code : undefined
  const isPlain = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code)
  return isPlain ? `the connection failed (${code})` : 'the connection failed'
}
