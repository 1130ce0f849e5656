import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from '@x402/core/http'
import type { Network, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { declareDiscoveryExtension } from '@x402/extensions/bazaar'
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier'
import type { FastifyReply } from 'fastify'
import { purchasePath } from '../desk/paths.ts'
import type { Site } from '../desk/site.ts'
import type { Kind } from '../goods/offer.ts'
import { kindSchemaFor } from '../goods/purchase-body.ts'
import type { Order } from '../orders/order.ts'
import { PaymentPayload, type Terms } from '../payments/x402.ts'
import { transactionOf } from './views/order.ts'

/** The x402 headers, version 2. */
const paymentHeaders = {
  required: 'PAYMENT-REQUIRED',
  signature: 'PAYMENT-SIGNATURE',
  response: 'PAYMENT-RESPONSE',
} as const

/** An ERC-6492 signature makes 6.9 kB; nothing longer is a payment. */
const signatureHeaderMost = 8_192

/** Stock clients refuse more than this until they are told otherwise, and say so nowhere. */
const stockSpendLimitAtomic = 1_000_000n

/** What `PAYMENT-SIGNATURE` holds, or why it cannot be read. */
export type Presented =
  | { readonly type: 'none' }
  | { readonly type: 'payment'; readonly payment: PaymentPayload }
  | { readonly type: 'unreadable'; readonly reason: string }

/** Reads the payment of a request. Never throws: an attacker writes this header. */
export function presentedPayment(header: string | string[] | undefined): Presented {
  if (header === undefined || header === '') return { type: 'none' }
  if (typeof header !== 'string') return unreadable('there is more than one')
  if (header.length > signatureHeaderMost) return unreadable('it is longer than 8 kB')
  try {
    const parsed = PaymentPayload.safeParse(decodePaymentSignatureHeader(header))
    if (parsed.success) return { type: 'payment', payment: parsed.data }
    const [issue] = parsed.error.issues
    return unreadable(`${issue?.path.join('.') || 'its content'} is missing or malformed`)
  } catch {
    return unreadable('it is not base64 of a JSON object')
  }
}

export interface Demand {
  readonly kind: Kind
  readonly terms: Terms
  /** Why payment is asked for, or asked for again. */
  readonly error: string
  readonly code?: string
  readonly description: string
  /** An indexer's empty call gets the description of the route; a purchase stays short. */
  readonly describe: boolean
}

/**
 * Answers 402. The body repeats the header, decoded, and adds a sentence that a person or a model
 * can act on, because not every client reads headers.
 */
export function sendPaymentRequired(reply: FastifyReply, site: Site, demand: Demand): FastifyReply {
  const { kind, terms, error, code, description, describe } = demand
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: {
      url: `${site.url}${purchasePath(kind)}`,
      description,
      mimeType: 'application/json',
      serviceName: site.name.slice(0, 32),
    },
    accepts: [terms as PaymentRequirements],
    extensions: {
      'payment-identifier': declarePaymentIdentifierExtension(false),
      ...(describe ? bazaarOf(kind) : {}),
    },
  }
  return answer402(reply, required, {
    ...(code === undefined ? {} : { code }),
    charged: 'no',
    message: guidance(terms, error),
  })
}

/** Answers 402 with the demand in the header and, beside some words more, in the body. */
export function answer402(
  reply: FastifyReply,
  required: PaymentRequired,
  more: object,
): FastifyReply {
  return reply
    .status(402)
    .header(paymentHeaders.required, encodePaymentRequiredHeader(required))
    .header('cache-control', 'no-store')
    .send({ ...required, ...more })
}

/** The receipt of a payment that is proven; nothing while it is not. */
export function paymentResponse(order: Order): Record<string, string> {
  const transaction = transactionOf(order)
  if (transaction === null) return {}
  const settled = {
    success: true,
    transaction,
    network: order.tender.network as Network,
    payer: order.tender.payer,
    amount: order.amount.toString(),
  }
  return { [paymentHeaders.response]: encodePaymentResponseHeader(settled) }
}

function guidance(terms: Terms, error: string): string {
  const dollars = (Number(terms.amount) / 1_000_000).toFixed(2)
  const how = `Sign the x402 payment in accepts[0] (${dollars} USDC, scheme exact) and send the same request with it in ${paymentHeaders.signature}.`
  const limit =
    BigInt(terms.amount) > stockSpendLimitAtomic
      ? ' Stock x402 clients refuse payments over 1 USD until their own spend limit is raised.'
      : ''
  return `${error.replace(/\.$/, '')}. ${how}${limit}`
}

function bazaarOf(kind: Kind): Record<string, unknown> {
  const declared = declareDiscoveryExtension({
    bodyType: 'json',
    input: exampleInput[kind],
    inputSchema: kindSchemaFor(kind),
    output: { example: { orderId: 'ord_…', orders: [{ state: 'FULFILLED', result: {} }] } },
  })
  const { bazaar } = declared as unknown as { bazaar: { info: { input: object } } }
  return {
    bazaar: {
      ...bazaar,
      info: { ...bazaar.info, input: { method: 'POST', ...bazaar.info.input } },
    },
  }
}

const exampleInput: Readonly<Record<Kind, Record<string, string>>> = {
  voucher: { offerId: 'AMAZON_US_25_EGIFT', firstName: 'Ada', lastName: 'Lovelace' },
  topup: { offerId: 'CLARO_GT_OPEN', msisdn: '+50255551234' },
  esim: { offerId: 'ESIM-US-7D-1GB' },
}

function unreadable(why: string): Presented {
  return {
    type: 'unreadable',
    reason: `The ${paymentHeaders.signature} header cannot be read: ${why}`,
  }
}
