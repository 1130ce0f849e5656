import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from '@x402/core/http'
import type { Network, PaymentRequired, PaymentRequirements } from '@x402/core/types'
import type { OfferReceiptIssuer } from '@x402/extensions/offer-receipt'
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier'
import type { FastifyReply } from 'fastify'
import type { Kind } from '../goods/offer.ts'
import type { Signals } from '../health/signals.ts'
import type { Order } from '../orders/order.ts'
import { PaymentPayload, type Terms } from '../payments/x402.ts'
import { bazaarOf, tagsOf } from './extensions/bazaar.ts'
import { signedOffer, signedReceipt } from './extensions/offer-receipt.ts'
import { signalsExtension } from './extensions/signals.ts'
import type { Site } from './site.ts'
import { transactionOf } from './views/order.ts'

/** The x402 headers, version 2. */
const paymentHeaders = {
  required: 'PAYMENT-REQUIRED',
  signature: 'PAYMENT-SIGNATURE',
  response: 'PAYMENT-RESPONSE',
} as const

/**
 * A demand that is echoed whole, below 3 kB, and the longest signature that is taken, 6 kB of hex for a
 * wallet that is not deployed yet (ERC-6492), make 12.6 kB of base64. Node takes 16 kB of headers.
 */
const signatureHeaderMost = 13 * 1_024

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
  if (header.length > signatureHeaderMost) return unreadable('it is longer than 13 kB')
  try {
    const parsed = PaymentPayload.safeParse(decodePaymentSignatureHeader(header))
    if (parsed.success) return { type: 'payment', payment: parsed.data }
    const [issue] = parsed.error.issues
    return unreadable(`${issue?.path.join('.') || 'its content'} is missing or malformed`)
  } catch {
    return unreadable('it is not base64 of a JSON object')
  }
}

/** Bytes of a description: the demand is a header, and a proxy's smallest buffer is small. */
const descriptionMost = 110

/** What every demand says, whatever is asked for. */
export interface PaywallDeps {
  readonly site: Site
  readonly issuer: OfferReceiptIssuer
  readonly signals: () => Signals
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
}

export interface Demand {
  readonly kind: Kind
  readonly terms: Terms
  /** For how long the store stands by the amount. */
  readonly validSeconds: number
  /** Why payment is asked for, or asked for again. */
  readonly error: string
  readonly code?: string
  readonly description: string
  /** The JSON Schema of the body that buys this. */
  readonly bodySchema: object
}

/**
 * Answers 402. The body repeats the header, decoded, and adds a sentence that a person or a model
 * can act on, because not every client reads headers.
 */
export async function sendPaymentRequired(
  reply: FastifyReply,
  deps: PaywallDeps,
  demand: Demand,
): Promise<FastifyReply> {
  const { kind, terms, error, code, description, bodySchema } = demand
  const { site } = deps
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: {
      url: resourceUrl(site, kind),
      description: cut(description, descriptionMost),
      mimeType: 'application/json',
      ...serviceNameOf(site),
      tags: tagsOf[kind],
    },
    accepts: [terms as PaymentRequirements],
    extensions: await extensionsOf(deps, demand),
  }
  return answer402(reply, required, {
    ...(code === undefined ? {} : { code }),
    charged: 'no',
    message: guidance(terms, error),
    bodySchema,
  })
}

/** What stands beside the terms, for clients that know the extension and for indexes. */
async function extensionsOf(deps: PaywallDeps, { kind, terms, validSeconds }: Demand) {
  const { site, issuer, signals, fulfillmentDeadlineSeconds } = deps
  return {
    'payment-identifier': paymentIdentifier,
    ...bazaarOf(kind),
    ...(await signedOffer(issuer, resourceUrl(site, kind), terms, validSeconds)),
    ...signalsExtension(kind, signals(), fulfillmentDeadlineSeconds),
  }
}

/** With a shorter schema than the package's, which says the same. */
const paymentIdentifier = {
  ...declarePaymentIdentifierExtension(false),
  schema: {
    type: 'object',
    properties: { id: { type: 'string', pattern: '^[a-zA-Z0-9_-]{16,128}$' } },
  },
}

/** As indexes take a name: printable ASCII, at most 32 of it; nothing where that leaves nothing. */
function serviceNameOf({ name }: Site): { serviceName?: string } {
  const serviceName = name.replace(/[^\x20-\x7e]/g, '').slice(0, 32)
  return serviceName === '' ? {} : { serviceName }
}

/** The public address of a purchase route, whatever a proxy asked for. */
function resourceUrl({ url }: Site, kind: Kind): string {
  return `${url}${purchasePath(kind)}`
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
export async function paymentResponse(
  { site, issuer }: Pick<PaywallDeps, 'site' | 'issuer'>,
  order: Order,
): Promise<Record<string, string>> {
  const transaction = transactionOf(order)
  if (transaction === null) return {}
  const settled = {
    success: true,
    transaction,
    network: order.tender.network as Network,
    payer: order.tender.payer,
    amount: order.amount.toString(),
    extensions: await signedReceipt(issuer, resourceUrl(site, order.item.kind), order),
  }
  return { [paymentHeaders.response]: encodePaymentResponseHeader(settled) }
}

export function purchasePath(kind: Kind): string {
  return `/api/catalog/${kind}s/purchase/info`
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

/** As many whole characters of a text as fit in this many bytes of UTF-8. */
function cut(text: string, bytesMost: number): string {
  return Buffer.from(text)
    .subarray(0, bytesMost)
    .toString()
    .replace(/\ufffd+$/, '')
}

function unreadable(why: string): Presented {
  return {
    type: 'unreadable',
    reason: `The ${paymentHeaders.signature} header cannot be read: ${why}`,
  }
}
