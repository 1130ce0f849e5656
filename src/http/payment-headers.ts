import { decodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PaymentTransport } from '../api/buying/payment-required.ts'
import { type Presented, presentedIn, type Settled, versionOne } from '../api/buying/purchase.ts'
import { bazaarOf } from '../api/extensions/policies.ts'
import { purchasePath } from '../api/paths.ts'

const paymentHeaders = {
  required: 'PAYMENT-REQUIRED',
  signature: 'PAYMENT-SIGNATURE',
  response: 'PAYMENT-RESPONSE',
} as const

/** The terms and the longest signature, of a wallet that is not deployed yet (ERC-6492), make 13.2 kB of base64. */
const maxSignatureHeader = 14 * 1_024

export const httpTransport: PaymentTransport = {
  resource: ({ url }, kind) => `${url}${purchasePath(kind)}`,
  howToSend: `send the same request with it in ${paymentHeaders.signature}`,
  discovery: bazaarOf,
}

/** Whether a request has a payment in its headers, valid or not. */
export function bringsPayment({ headers }: FastifyRequest): boolean {
  return !isAbsent(headers['payment-signature'])
}

/** Also for routes whose payments may be elsewhere, such as in a body that has not been read yet. */
export function mayBringPayment(request: FastifyRequest): boolean {
  return (request.routeOptions.config?.mayBringPayment ?? bringsPayment)(request)
}

function isAbsent(header: string | readonly string[] | undefined): header is undefined | '' {
  return header === undefined || header === ''
}

/** Version 1 of x402 used another header, `X-PAYMENT`. */
export function paymentIn({ headers }: Pick<FastifyRequest, 'headers'>): Presented {
  const presented = presentedPayment(headers['payment-signature'])
  return presented.type === 'none' && !isAbsent(headers['x-payment']) ? versionOne : presented
}

/** Reads a payment. Never throws, because the header may come from an attacker. */
export function presentedPayment(header: string | string[] | undefined): Presented {
  if (isAbsent(header)) return { type: 'none' }
  if (typeof header !== 'string') return unreadable('there is more than one')
  if (header.length > maxSignatureHeader) return unreadable('it is longer than 14 kB')
  try {
    return presentedIn(decodePaymentSignatureHeader(header), unreadable)
  } catch {
    return unreadable('it is not base64 of a JSON object')
  }
}

/** The body repeats the terms of the header, because not every client reads headers. */
export function answer402(
  reply: FastifyReply,
  required: PaymentRequired,
  more: object,
): FastifyReply {
  return reply
    .status(402)
    .header(paymentHeaders.required, encoded(required))
    .header('cache-control', 'no-store')
    .send({ ...required, ...more })
}

/** No cache may store it. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
}

/** Empty while the payment is not proven. */
export function paymentResponse(settled: Settled | undefined): Record<string, string> {
  return settled ? { [paymentHeaders.response]: encoded(settled) } : {}
}

/** As the x402 package does, in a twentieth of the time: the package loops over the bytes in JavaScript. */
function encoded(content: PaymentRequired | Settled): string {
  return Buffer.from(JSON.stringify(content)).toString('base64')
}

function unreadable(why: string): Presented {
  return {
    type: 'unreadable',
    reason: `The ${paymentHeaders.signature} header cannot be read: ${why}`,
  }
}
