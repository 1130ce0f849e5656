import { readText } from '../../../primitives/read-text.ts'

/** What came of one call: the supplier said something, or nobody can tell whether it heard us. */
export type Answer =
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** The parsed JSON; undefined when the body is empty or no JSON. */
      readonly body: unknown
    }
  | { readonly outcome: 'unknown'; readonly reason: string }

export interface ZenditClientOptions {
  /** Where the API is, version included: `https://api.zendit.io/v1` (suppliers A.1). */
  readonly baseUrl: string
  readonly apiKey: string
  /** For the whole call, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly fetch?: typeof fetch
}

interface CallOptions {
  /** Ends the call early. */
  readonly signal?: AbortSignal
  /** A longer answer is not read to its end. */
  readonly maxBytes?: number
}

export interface ZenditClient {
  /** @param path begins with a slash; whatever it is made of is encoded already */
  get(path: string, call?: CallOptions): Promise<Answer>
  post(path: string, body: unknown, call?: CallOptions): Promise<Answer>
}

/** Enough for a purchase record with its receipt and its log. */
const defaultMaxBytes = 256 * 1024

/**
 * Speaks HTTP with the supplier and decides nothing: statuses are for the callers to judge.
 *
 * A reason never holds the key, a body or a code, because reasons are logged. That is also why no
 * message of a caught error is passed on: fetch quotes header values in its own.
 */
export function createZenditClient(options: ZenditClientOptions): ZenditClient {
  return {
    get: (path, call = {}) => send(options, { method: 'GET', path }, call),
    post: (path, body, call = {}) => {
      return send(options, { method: 'POST', path, body: JSON.stringify(body) }, call)
    },
  }
}

interface Outgoing {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

async function send(
  options: ZenditClientOptions,
  outgoing: Outgoing,
  call: CallOptions,
): Promise<Answer> {
  const timeout = AbortSignal.timeout(options.timeoutMs)
  const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal])
  try {
    const response = await (options.fetch ?? fetch)(urlOf(options, outgoing.path), {
      method: outgoing.method,
      headers: headersOf(options, outgoing),
      // The key must not follow the answer of a stranger to another place.
      redirect: 'error',
      signal,
      ...(outgoing.body === undefined ? {} : { body: outgoing.body }),
    })
    const text = await readText(response, call.maxBytes ?? defaultMaxBytes)
    if (text === undefined) return { outcome: 'unknown', reason: 'the answer is too large' }
    return { outcome: 'answered', status: response.status, body: parseJson(text) }
  } catch (error) {
    return { outcome: 'unknown', reason: reasonOf(error, options.timeoutMs) }
  }
}

function urlOf(options: ZenditClientOptions, path: string): string {
  return `${options.baseUrl.replace(/\/+$/, '')}${path}`
}

function headersOf(options: ZenditClientOptions, outgoing: Outgoing): Record<string, string> {
  const headers = { authorization: `Bearer ${options.apiKey}`, accept: 'application/json' }
  return outgoing.body === undefined ? headers : { ...headers, 'content-type': 'application/json' }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Names what went wrong in words of ours; of the error only a system code such as ECONNRESET. */
function reasonOf(error: unknown, timeoutMs: number): string {
  const { name, cause } = error instanceof Error ? error : { name: '', cause: undefined }
  if (name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  if (name === 'AbortError') return 'the call was stopped'
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  const isPlain = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code)
  return isPlain ? `the connection failed (${code})` : 'the connection failed'
}
