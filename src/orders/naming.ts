import { type OrderId, orderIdOf, type PaymentId, paymentIdOf } from '../lib/ids.ts'
import { type Payment, paymentKeyOf } from '../payments/payment.ts'
import type { Digest } from '../secrets/tokens.ts'

/**
 * The ids of the order that this payment opens. They are derived from the payment with a secret of
 * the store: nobody can guess them, and a record that was lost is opened again under the same name,
 * so that the supplier knows its purchase and the chain its refund.
 */
export function idsFor(
  { of }: Pick<Digest, 'of'>,
  tender: Pick<Payment, 'network' | 'asset' | 'payer' | 'nonce'>,
): { readonly id: OrderId; readonly paymentId: PaymentId } {
  const key = paymentKeyOf(tender)
  return { id: orderIdOf(of(`order:${key}`)), paymentId: paymentIdOf(of(`payment:${key}`)) }
}
