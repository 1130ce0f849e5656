import { byKind, goods } from '../../catalog/good.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { Signals } from '../../health/signals.ts'
import { orderPath, refundPath } from '../paths.ts'

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

/** What holds for every kind. What was delivered is not refunded; what was not, is (x402-signals 4.2). */
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
 * The refund policy of the store, as the manifest has it. `conditional` is the published word and
 * stands outside the vocabulary of x402-signals, so the rule for each state and kind stands beside it.
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
 * The policies of one kind and the state of the store, beside its price. An agent takes this block over
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
