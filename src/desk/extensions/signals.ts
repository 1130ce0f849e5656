import { goods } from '../../goods/good.ts'
import type { Kind } from '../../goods/offer.ts'
import type { Signals } from '../../health/signals.ts'
import { retryAfterSeconds } from '../buying/orders.ts'
import { orderPath } from '../paths.ts'
import { refundDeadlineSeconds } from '../views/refund.ts'

/**
 * What an agent weighs before it pays for a good of this kind: how it is delivered, what comes back
 * when it is not, and how the store is doing (x402-signals 4 and 5.1). What is the same for every kind is in
 * the manifest.
 *
 * @param fulfillmentDeadlineSeconds from payment to `EXPIRED`
 */
export function signalsExtension(
  kind: Kind,
  signals: Signals,
  fulfillmentDeadlineSeconds: number,
): Record<string, unknown> {
  const info = {
    fulfillment_policy: {
      mode: 'instant',
      fulfillment_deadline_seconds: fulfillmentDeadlineSeconds,
      status_endpoint: orderPath('{orderId}'),
      retry_after_seconds: retryAfterSeconds,
    },
    refund_policy: {
      type: goods[kind].refund,
      refund_to: 'original_payer',
      refund_deadline_seconds: refundDeadlineSeconds,
      refund_policy_by_state: exceptions[goods[kind].refund],
    },
    signals,
  }
  return { 'x402-signals': { info, schema: { type: 'object' } } }
}

/** What differs from the type of the kind. An order that expired counts as failed (x402-signals 3.3). */
const exceptions = {
  none: { FULFILLMENT_FAILED: { type: 'automatic' } },
  automatic: { FULFILLED: { type: 'none' } },
}
