import { whyCallFailed } from '../lib/connection-error.ts'
import { readText } from '../lib/read-text.ts'

/** What came of one call: the service said something, or nobody can tell whether it heard us. */
export type Answer =
  | {
      readonly outcome: 'answered'
      readonly status: number
      /** The parsed JSON; undefined when the body is empty or no JSON. */
      readonly body: unknown
    }
  | { readonly outcome: 'unknown'; readonly reason: string }

/** A service that is spoken with in JSON over HTTP. */
export interface JsonService {
  readonly baseUrl: string
  /** The whole `Authorization` header: a secret. */
  readonly authorization: string
  /** For the whole call, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly fetch?: typeof fetch
}

export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Begins with a slash; whatever it is made of is encoded already. */
  readonly path: string
  readonly body?: unknown
  /** Ends the call early. */
  readonly signal?: AbortSignal
  /** A longer answer is not read to its end. */
  readonly maxBytes?: number
}

/** Enough for any single record of the services that we know. */
const maxDefaultBytes = 256 * 1024

/**
 * Makes one call and decides nothing: statuses are for the callers to judge. It is never made again
 * by itself, because only the caller knows what is safe to repeat.
 *
 * A reason never holds a secret or a body, because reasons are logged. That is also why no message
 * of a caught error is passed on: fetch quotes header values in its own.
 */
export async function callJson(service: JsonService, request: JsonRequest): Promise<Answer> {
  const timeout = AbortSignal.timeout(service.timeoutMs)
  const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal])
  try {
    const response = await (service.fetch ?? fetch)(urlOf(service, request.path), {
      ...outgoing(service, request),
      // The secret must not follow the answer of a stranger to another place.
      redirect: 'error',
      signal,
    })
    const text = await readText(response, request.maxBytes ?? maxDefaultBytes)
    if (text === undefined) return { outcome: 'unknown', reason: 'the answer is too large' }
    return { outcome: 'answered', status: response.status, body: parseJson(text) }
  } catch (error) {
    return { outcome: 'unknown', reason: whyCallFailed(error, service.timeoutMs) }
  }
}

function urlOf(service: JsonService, path: string): string {
  return `${service.baseUrl.replace(/\/+$/, '')}${path}`
}

function outgoing({ authorization }: JsonService, { method, body }: JsonRequest) {
  const headers = { authorization, accept: 'application/json' }
  if (body === undefined) return { method, headers }
  return {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
