export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A start that no later one can do better, until a person has changed something. */
export class StartRefused extends Error {}

/** Adding a case to the union becomes a compile error here. */
export function never(value: never): never {
  throw new Error(`Unexpected ${JSON.stringify(value)}`)
}

/** If a host has several addresses, Node leaves the message empty and keeps the error of each in `errors`. */
export function withReasons(error: Error): Error {
  if (error instanceof AggregateError && error.message === '') {
    error.message = error.errors.map(({ message }) => message).join('; ')
  }
  return error
}

/** Why a call with `fetch` failed, for the log: never the messages of fetch, because they quote header values. */
export function whyCallFailed(error: unknown, timeoutMs: number): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  return name === 'AbortError' ? 'the call was stopped' : whyUnreached(error)
}

export function whyUnreached(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return 'the connection failed'
  if (cause.message === 'unexpected redirect') return 'it redirects, which is not followed'
  const code = 'code' in cause ? cause.code : undefined
  const isPlain = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code)
  return isPlain ? `the connection failed (${code})` : 'the connection failed'
}
