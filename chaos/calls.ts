import { randomBytes } from 'node:crypto'

/** The result of a call. Without an answer, the caller does not know what the store did. */
export type Called = Answer | { readonly type: 'none' }

export interface Answer {
  readonly type: 'answer'
  readonly status: number
  readonly body: Body
}

/** The parts of the store's answers that a buyer reads. */
interface Body {
  readonly orderId?: string
  readonly accessToken?: string
  readonly orders?: readonly { readonly state: string; readonly result?: unknown }[]
  readonly refund_state?: string | null
  readonly accepts?: readonly unknown[]
  readonly code?: string
  readonly detail?: string
}

/**
 * The refusals after which a buyer repeats the call, with their statuses: a running store that cannot
 * answer now, or a request that came too late because this process was blocked.
 */
const notNow = { try_again: 503, store_paused: 503, request_timeout: 408 } as const

/** The code of such a refusal; undefined for every other result. */
export function notNowOf(called: Called): keyof typeof notNow | undefined {
  if (called.type === 'none') return undefined
  const { status, body } = called
  const codes = Object.keys(notNow) as (keyof typeof notNow)[]
  return codes.find((code) => code === body.code && notNow[code] === status)
}

interface Call {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly patienceMs: number
}

/**
 * Calls a node. A killed node, a broken connection and the end of the buyer's patience all count as no
 * answer. Each call comes from an address of its own, so that no rate limit applies.
 */
export async function call(nodeUrl: string, { path, body, headers, patienceMs }: Call) {
  try {
    const response = await fetch(`${nodeUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': [10, ...randomBytes(3)].join('.'),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    })
    return { type: 'answer', status: response.status, body: await read(response) } satisfies Called
  } catch {
    return { type: 'none' } satisfies Called
  }
}

async function read(response: Response): Promise<Body> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return isJson ? (JSON.parse(text) as Body) : { detail: text.slice(0, 300) }
}
