import { type Answer, callJson } from '../../adapters/json-call.ts'
import type { Kind } from '../../catalog/offer.ts'

/** The kinds as Zendit's paths name them: `esim` is singular there, the others are plural. */
export const families: Readonly<Record<Kind, string>> = {
  voucher: 'vouchers',
  topup: 'topups',
  esim: 'esim',
}

export interface ZenditClientOptions {
  /** Where the API is, version included: `https://api.zendit.io/v1`. */
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
  /** @param path begins with a slash, with all its parts encoded */
  get(path: string, call?: CallOptions): Promise<Answer>
  post(path: string, body: unknown, call?: CallOptions): Promise<Answer>
}

/** Calls the supplier over HTTP. The callers interpret the status of the answer. */
export function createZenditClient({ apiKey, ...options }: ZenditClientOptions): ZenditClient {
  const service = { ...options, authorization: `Bearer ${apiKey}` }
  return {
    get: (path, call = {}) => callJson(service, { method: 'GET', path, ...call }),
    post: (path, body, call = {}) => callJson(service, { method: 'POST', path, body, ...call }),
  }
}
