import { whyCallFailed } from './errors.ts'

/** It is unknown whether a service that did not answer received the call. */
export type Answer =
  | {
      readonly outcome: 'answered'
      readonly status: number
      readonly body: unknown
    }
  | { readonly outcome: 'unknown'; readonly reason: string }

interface JsonService {
  readonly baseUrl: string
  readonly authorization?: string
  /** For the whole call, from connecting to the last byte of the answer. */
  readonly timeoutMs: number
  readonly fetch?: typeof fetch
}

export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Begins with a slash; its parts are already URL-encoded. */
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** A longer answer is not read to its end, and its outcome is `unknown`. */
  readonly maxBytes?: number
}

const maxDefaultBytes = 256 * 1024

/** Never repeats a call. Its reasons are logged, so they hold no secret and no message of fetch. */
export async function callJson(service: JsonService, request: JsonRequest): Promise<Answer> {
  const timeout = AbortSignal.timeout(service.timeoutMs)
  const signal = request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal])
  const { baseUrl, authorization } = service
  const { method, path, body } = request
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  try {
    const response = await (service.fetch ?? fetch)(`${baseUrl.replace(/\/+$/, '')}${path}`, {
      method,
      headers: { ...(authorization && { authorization }), accept: 'application/json', ...type },
      body: body === undefined ? null : JSON.stringify(body),
      // The authorization must not follow a redirect to another host.
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

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Undefined when it exceeds `maxBytes`: an endless response cannot fill the memory. */
export async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
