import { goods } from '../../catalog/good.ts'
import { refundIdOf } from '../../lib/ids.ts'
import { type Refunding, refundStateOf } from '../../orders/order.ts'
import { paidIn, publicPayerOf } from '../../payments/payment.ts'
import { refundPath } from '../paths.ts'

/** The manifest promises a refund within this time of the failure; seconds. */
export const refundDeadlineSeconds = 86_400

/** The refund object of x402-signals 7.2. The destination is always the payer. */
export function refundBody(order: Refunding, claim: { reason?: string; idempotencyKey?: string }) {
  const { payout } = order
  const paid = payout?.state === 'CONFIRMED' ? payout : undefined
  return {
    refundId: refundIdOf(order.id),
    paymentId: order.paymentId,
    orderId: order.id,
    state: refundStateOf(order),
    state_updated_at: (paid?.confirmedAt ?? order.changedAt).toISOString(),
    refund_to: publicPayerOf(order.tender),
    ...amountsOf(order),
    asset: order.tender.asset,
    asset_decimals: paidIn(order.tender).decimals,
    network: order.tender.network,
    transactionHash: paid?.transaction ?? null,
    reason: claim.reason ?? order.failure.message,
    idempotency_key: claim.idempotencyKey ?? null,
    deadline: new Date(order.changedAt.getTime() + refundDeadlineSeconds * 1_000).toISOString(),
    ...(payout?.state === 'FAILED' ? { error: { code: payout.code, message: payout.reason } } : {}),
  }
}

/** What went back and what was kept is null until it is certain; there are no partial refunds. */
function amountsOf({ tender, payout }: Refunding) {
  const whole = paidIn(tender).units.toString()
  const [refunded, kept] =
    payout?.state === 'CONFIRMED'
      ? [whole, '0']
      : payout?.state === 'FAILED'
        ? ['0', whole]
        : [null, null]
  return { amount_atomic: whole, amount_atomic_refunded: refunded, amount_atomic_kept: kept }
}

/** How an agent asks for, or watches, the refund of this order (x402-signals 6.2). */
export function refundContract(order: Refunding) {
  return {
    endpoint: refundPath(order.id),
    method: 'POST',
    required_body: {
      transactionHash: order.receipt.transaction,
      reason: order.failure.trigger,
    },
    required_headers: { 'Idempotency-Key': '16 to 128 characters of A-Z a-z 0-9 _ -' },
    auth_model: 'The order id names the payment; the refund goes to its payer whoever asks.',
    security_model: goods[order.item.kind].refundRule,
  }
}
