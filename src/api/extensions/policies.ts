import * as z from 'zod'
import { byKind, goods } from '../../catalog/good.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { Signals } from '../../health/signals.ts'
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
