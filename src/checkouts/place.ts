import { advance } from '../orders/advance.ts'
import { type In, idsFor } from '../orders/order.ts'
import { moveTo } from '../orders/workflow.ts'
import { type PaidInvoice, payerOf } from '../payments/payment.ts'
import { type CheckoutIn, priceUnits } from './checkout.ts'
import type { CheckoutStep, CheckoutStepDeps } from './steps.ts'

/**
 * Opens the order of a paid checkout. Safe to repeat: one checkout pays one order. The order counts in the
 * budgets, but none refuses it: the money is here, so it becomes goods or goes back.
 */
export async function place(
  deps: CheckoutStepDeps,
  checkout: CheckoutIn<'ORDERED'>,
): Promise<CheckoutStep> {
  const order = orderOf(deps, checkout)
  const counted = { subjects: { ...checkout.subjects, payer: order.tender.payer.toLowerCase() } }
  const opened = await deps.orders.open(order, [], { counted })
  if (opened.isNew) {
    try {
      await advance(deps, opened.order, 0)
    } catch (error) {
      // It is on record and the sweep goes on with it.
      deps.report({ name: 'step_failed', order: opened.order.id, error })
    }
  }
  return moveTo({ ...checkout, isPlaced: true })
}

/** The order that was named when the checkout began, paid by its invoice. */
function orderOf(deps: CheckoutStepDeps, checkout: CheckoutIn<'ORDERED'>): In<'PAYMENT_PENDING'> {
  const { orderId: id, item, recipient, fingerprint, accessTokenHash, amount } = checkout
  const tender = tenderOf(checkout)
  const now = deps.now()
  return {
    state: 'PAYMENT_PENDING',
    id,
    paymentId: idsFor(deps.digest, tender).paymentId,
    version: 1,
    item,
    recipient,
    fingerprint,
    accessTokenHash,
    tender,
    amount,
    placedAt: now,
    changedAt: now,
  }
}

function tenderOf(checkout: CheckoutIn<'ORDERED'>): PaidInvoice {
  const { id, coin, network, refundTo, amount, invoice } = checkout
  return {
    rail: 'btcpay',
    network,
    asset: coin,
    payTo: invoice.address,
    payer: payerOf(coin, refundTo),
    amount,
    nonce: id,
    invoice: invoice.id,
    units: priceUnits(checkout),
  }
}
