import {
  createJWS,
  createJWSOfferReceiptIssuer,
  type JWSSignedReceipt,
  OFFER_RECEIPT,
  type OfferReceiptIssuer,
  type ReceiptPayload,
} from '@x402/extensions/offer-receipt'
import * as z from 'zod'
import { byKind } from '../../catalog/good.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import type { Kind } from '../../catalog/offer.ts'
import {
  type ExampleBody,
  fieldsOfEveryPurchase,
  kindSchemaFor,
} from '../../catalog/purchase-body.ts'
import type { Signals } from '../../health/verdict.ts'
import { isPaid, type Order } from '../../orders/order.ts'
import type { Accepts } from '../../payments/terms.ts'
import type { SigningKeys } from '../../secrets/secrets.ts'
import type { Site } from '../deps.ts'
import { orderPath, refundPath } from '../paths.ts'

/** The published shapes of x402-signals v0.2, and how they are filled. */

const PolicyType = z.looseObject({ type: z.string() })

export const SignalsShape = z
  .object({
    provider_health: z.enum(['healthy', 'degraded', 'down']),
    agent_action: z.enum(['pay', 'retry_later', 'stop']),
    last_updated: z.iso.datetime(),
  })
  .meta({ id: 'Signals' })

export const FulfillmentPolicyShape = z
  .object({
    version: z.string(),
    mode: z.string(),
    fulfillment_deadline_seconds: z.int(),
    status_endpoint: z.string(),
    retry_after_seconds: z.int(),
  })
  .meta({ id: 'FulfillmentPolicy' })

/** The refund policy of one kind; that of the manifest also has the policies of all kinds. */
export const refundPolicyShape = {
  version: z.string(),
  mode: z.string(),
  type: z.string(),
  triggers: z.array(z.string()),
  refund_to: z.string(),
  refund_endpoint: z.string(),
  refund_deadline_seconds: z.int(),
  refund_claim_deadline_seconds: z.int().nullable(),
  partial_refunds_supported: z.boolean(),
  idempotency_required: z.boolean(),
  compensating_actions_optional: z.boolean(),
  refund_policy_by_state: z.record(z.string(), PolicyType),
}

/** The block beside a price (x402-signals 5.1). */
export const SignalsBlock = z
  .object({
    fulfillment_policy: FulfillmentPolicyShape,
    refund_policy: z.object(refundPolicyShape),
    signals: SignalsShape,
  })
  .meta({ id: 'SignalsBlock' })

/** The version of x402-signals that the policies follow. */
const version = '0.2'

/** Seconds between two looks at an order (x402-signals 4.1). */
export const retryAfterSeconds = 5

/** A refund is sent within this time of the failure; seconds. */
export const refundDeadlineSeconds = 86_400

/**
 * How goods are delivered (x402-signals 4.1).
 *
 * @param fulfillmentDeadlineSeconds from payment to `EXPIRED`
 */
export function fulfillmentPolicy(fulfillmentDeadlineSeconds: number) {
  return {
    version,
    mode: 'instant',
    fulfillment_deadline_seconds: fulfillmentDeadlineSeconds,
    status_endpoint: orderPath('{orderId}'),
    retry_after_seconds: retryAfterSeconds,
  }
}

const automatic = { type: 'automatic' }

/** The rules of all kinds: delivered goods are not refunded, undelivered ones are (x402-signals 4.2). */
const terms = {
  triggers: ['fulfillment_failed', 'upstream_timeout', 'expired'],
  refund_to: 'original_payer',
  refund_endpoint: refundPath('{orderId}'),
  refund_deadline_seconds: refundDeadlineSeconds,
  refund_claim_deadline_seconds: null,
  partial_refunds_supported: false,
  idempotency_required: true,
  compensating_actions_optional: false,
  refund_policy_by_state: {
    FULFILLED: { type: 'none' },
    FULFILLMENT_FAILED: { ...automatic, triggers: ['fulfillment_failed', 'upstream_timeout'] },
    EXPIRED: { ...automatic, triggers: ['expired'] },
  },
}

/**
 * The refund policy of the store, for the manifest. The published type `conditional` is not in the vocabulary of
 * x402-signals, so the rules for each state and kind are beside it.
 */
export const refundPolicy = {
  version,
  mode: 'instant',
  type: 'conditional',
  ...terms,
  refund_policy_by_product: byKind((kind) => {
    const { refund, refundNote: note }: KindDefinition = goods[kind]
    return { type: refund, ...(note === undefined ? {} : { note }) }
  }),
}

/**
 * The policies of one kind and the state of the store, beside its price. For agents this block takes precedence over
 * the manifest (x402-signals 5.1), so it is complete and says the same.
 */
export function signalsExtension(kind: Kind, signals: Signals, fulfillmentDeadlineSeconds: number) {
  return {
    'x402-signals': {
      fulfillment_policy: fulfillmentPolicy(fulfillmentDeadlineSeconds),
      refund_policy: { version, mode: 'instant', type: goods[kind].refund, ...terms },
      signals,
    },
  }
}

/** Signs the offers and receipts of the x402 extension. */
export interface Issuer extends Pick<OfferReceiptIssuer, 'issueOffer'> {
  signReceipt(payload: ReceiptPayload): Promise<JWSSignedReceipt>
}

/**
 * Only the package's signing is used. Its hooks for the stock server omit the transaction from receipts, and name in
 * them the URL that a proxy requested instead of the public one. Its receipts also have the time of signing, so a
 * repeated request would get a different one.
 */
export function createIssuer(site: Site, keys: SigningKeys): Issuer {
  // Read each time, because the current key may have changed.
  const signerNow = () => {
    const { kid, sign } = keys.current
    return {
      ...{ kid: `${didOf(site)}#${kid}`, format: 'jws' as const, algorithm: 'EdDSA' },
      sign: async (bytes: Uint8Array) => sign(bytes),
    }
  }
  return {
    issueOffer(resourceUrl, offer) {
      const signer = signerNow()
      return createJWSOfferReceiptIssuer(signer.kid, signer).issueOffer(resourceUrl, offer)
    },
    signReceipt: async (payload) => ({
      format: 'jws',
      signature: await createJWS(payload, signerNow()),
    }),
  }
}

/**
 * The signed terms of a 402, with which a buyer can prove later what was asked of them.
 *
 * @param offerValiditySeconds how long the price is valid
 */
export async function signedOffers(
  issuer: Issuer,
  resourceUrl: string,
  accepts: Accepts,
  offerValiditySeconds: number,
) {
  const offers = await Promise.all(
    accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex) =>
      issuer.issueOffer(resourceUrl, {
        ...{ acceptIndex, scheme, network, asset, payTo, amount, offerValiditySeconds },
      }),
    ),
  )
  return { [OFFER_RECEIPT]: { info: { offers }, schema: offersSchema } }
}

/**
 * The signed receipt of a payment, the same at every request. Empty while the payment is not proven, or if the chain
 * dropped it.
 */
export async function signedReceipt(
  issuer: Issuer,
  resourceUrl: string,
  order: Order,
): Promise<Record<string, object>> {
  if (!isPaid(order)) return {}
  const { payer, network } = order.payment
  const receipt = await issuer.signReceipt({
    version: 1,
    network,
    resourceUrl,
    payer,
    issuedAt: Math.floor(order.paidAt.getTime() / 1_000),
    transaction: order.receipt.transaction,
  })
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: receiptSchema } }
}

/** The package's schemas are ten times as long; the signed content needs no description. */
const offersSchema = { type: 'object', required: ['offers'] }
const receiptSchema = { type: 'object', required: ['receipt'] }

/**
 * How a purchase route is called and what it answers, for indexes of paid resources (x402 Bazaar). An index reads
 * it from the empty call, or from a payment that a client sent through a facilitator. The package's own declaration
 * has parts for which a header has no room, and lacks the method.
 *
 * @param example a body that buys something of this kind
 */
export function bazaarOf(kind: Kind, example: ExampleBody): { readonly bazaar: object } {
  const method = 'POST'
  return {
    bazaar: {
      info: {
        input: { type: 'http', bodyType: 'json', body: example, method },
        output: { type: 'json', example: { orders: [{ state: 'FULFILLED', result: {} }] } },
      },
      schema: {
        type: 'object',
        properties: {
          input: {
            type: 'object',
            properties: { body: shortSchemaOf(kind), method: { const: method } },
            required: ['method', 'body'],
          },
          output: {
            type: 'object',
            properties: { example: { type: 'object', required: ['orders'] } },
          },
        },
        required: ['input'],
      },
    },
  }
}

/**
 * The fields of the body with their types, without texts and patterns: it has to fit in a header, twice
 * (docs/agents/receipts.md). The body of the 402 has the whole schema.
 */
function shortSchemaOf(kind: Kind) {
  const { properties, required } = kindSchemaFor(kind)
  const fields = Object.entries(properties as Record<string, { readonly type: string }>).filter(
    ([name]) => !fieldsOfEveryPurchase.includes(name),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, { type }]) => [name, { type }])),
    required,
  }
}

/** The did:web of the store as a signer, made from its URL. */
export function didOf({ url }: Site): string {
  const { host, pathname } = new URL(url)
  const parts = [host, ...pathname.split('/').filter((part) => part !== '')]
  return ['did', 'web', ...parts.map(encodeURIComponent)].join(':')
}
