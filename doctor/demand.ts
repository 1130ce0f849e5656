import { decodePaymentRequiredHeader } from '@x402/core/http'
import { PaymentRequiredV2Schema } from '@x402/core/schemas'
import type { PaymentRequired } from '@x402/core/types'
import { type Answer, recordAt } from './ask.ts'

const withoutMethods = PaymentRequiredV2Schema.omit({ accepts: true })

/** The payment requirements of a 402, as any client reads them; undefined if they cannot be read. */
export function demandOf({ status, headers }: Answer): PaymentRequired | undefined {
  const header = headers.get('payment-required')
  if (status !== 402 || header === null) return undefined
  try {
    const decoded: unknown = decodePaymentRequiredHeader(header)
    // A 402 without any payment method is valid too: it asks for a sign-in.
    const { accepts } = decoded as { accepts?: unknown }
    const isEmpty = Array.isArray(accepts) && accepts.length === 0
    const schema = isEmpty ? withoutMethods : PaymentRequiredV2Schema
    return schema.safeParse(decoded).success ? (decoded as PaymentRequired) : undefined
  } catch {
    return undefined
  }
}

/** The example of a body that the store publishes; empty if it has none. */
export function exampleOf({ extensions }: PaymentRequired): Readonly<Record<string, unknown>> {
  return recordAt(extensions, 'bazaar', 'info', 'input', 'body')
}

/** The name of an operation in findings. */
export function named({ method, path }: { readonly method: string; readonly path: string }) {
  return `${method} ${path}`
}
