import type { KeptPayment } from './kept.ts'
import type { PaymentRequired } from './payment-required.ts'

/** A fault of a field, as the store reports it. */
export interface FieldFault {
  readonly parameter: string
  readonly message: string
  readonly didYouMean?: string | number
}

/** The answer of the store to a purchase. */
export type Answer =
  | {
      readonly type: 'demand'
      readonly demand: PaymentRequired
      readonly reason: string
      readonly nowSeconds: number
    }
  | { readonly type: 'order'; readonly orderId: string; readonly accessToken: string | undefined }
  | {
      readonly type: 'refused'
      readonly code: string
      readonly detail: string
      readonly errors: readonly FieldFault[]
      /** Whether money moved, as far as the store knows. */
      readonly charged: string
      readonly retryAfterSeconds: number | undefined
    }
  /** No answer, or an unreadable one. */
  | { readonly type: 'silence' }

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The timeout of one request: the payment has to get into a block. */
const patienceMs = 60_000

/** Asks for the exact price of a purchase, or sends it with its payment. Never throws. */
export async function purchase(
  fetch: Fetch,
  { purchaseUrl, body, header, key }: Omit<KeptPayment, 'header' | 'key'> & Partial<KeptPayment>,
): Promise<Answer> {
  try {
    const response = await fetch(purchaseUrl, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(header === undefined ? {} : { 'payment-signature': header, prefer: 'respond-async' }),
      },
      signal: AbortSignal.timeout(patienceMs),
    })
    return answerOf(response, (await response.json()) as Body)
  } catch {
    // It is unknown whether the request arrived; the caller sends the same again.
    return { type: 'silence' }
  }
}

/** The fields of all answers that are used here. */
type Body = Partial<PaymentRequired> & {
  readonly error?: string
  readonly orderId?: string
  readonly accessToken?: string
  readonly code?: string
  readonly detail?: string
  readonly errors?: readonly FieldFault[]
  readonly charged?: string
  readonly retryAfterSeconds?: number
}

function answerOf({ status, headers }: Response, body: Body): Answer {
  if (status === 402 && body.accepts !== undefined) {
    const { resource, extensions, accepts, error = '' } = body
    const date = Date.parse(headers.get('date') ?? '')
    const nowSeconds = Math.floor((Number.isNaN(date) ? Date.now() : date) / 1_000)
    return { type: 'demand', demand: { resource, extensions, accepts }, reason: error, nowSeconds }
  }
  if (status < 300 && body.orderId !== undefined) {
    return { type: 'order', orderId: body.orderId, accessToken: body.accessToken }
  }
  return refusalIn(body)
}

function refusalIn(body: Body): Answer {
  return {
    type: 'refused',
    code: body.code ?? 'internal_error',
    detail: body.detail ?? '',
    errors: body.errors ?? [],
    charged: body.charged ?? 'unknown',
    retryAfterSeconds: body.retryAfterSeconds,
  }
}
