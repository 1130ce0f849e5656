import { decodePaymentRequiredHeader } from '@x402/core/http'
import { PaymentRequiredV2Schema } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'
import { type Answer, recordAt } from './ask.ts'

/** The demand of a 402, as any client reads it; undefined when it cannot be read. */
export function demandOf({ status, headers }: Answer): PaymentRequired | undefined {
  const header = headers.get('payment-required')
  if (status !== 402 || header === null) return undefined
  try {
    const decoded: unknown = decodePaymentRequiredHeader(header)
    // An empty list of ways to pay is a demand too: it asks for a sign-in.
    const { accepts } = decoded as { accepts?: unknown }
    const isEmpty = Array.isArray(accepts) && accepts.length === 0
    if (isEmpty) return decoded as PaymentRequired
    return PaymentRequiredV2Schema.safeParse(decoded).success
      ? (decoded as PaymentRequired)
      : undefined
  } catch {
    return undefined
  }
}

/** The body that the store itself gives as an example; empty without one. */
export function exampleOf({ extensions }: PaymentRequired): Readonly<Record<string, unknown>> {
  return recordAt(extensions, 'bazaar', 'info', 'input', 'body')
}

/** How an operation is named in findings. */
export function named({ method, path }: { readonly method: string; readonly path: string }) {
  return `${method} ${path}`
}
