import type { Network } from '@x402/core/types'
import type { Order } from '../../orders/order.ts'
import { signedReceipt } from '../extensions/offer-receipt.ts'
import { transactionOf } from '../orders/order.ts'
import type { PaymentRequiredDeps, PaymentTransport } from './payment-required.ts'

/** The receipt of a settled payment, in the words of x402. */
export interface Settled {
  readonly success: true
  readonly transaction: string
  readonly network: Network
  readonly payer: string
  readonly amount: string
  readonly extensions: Record<string, unknown>
}

/** The receipt of a payment that is proven; undefined while it is not. */
export async function settledOf(
  { site, issuer }: Pick<PaymentRequiredDeps, 'site' | 'issuer'>,
  transport: PaymentTransport,
  order: Order,
): Promise<Settled | undefined> {
  const transaction = transactionOf(order)
  if (transaction === null) return undefined
  return {
    success: true,
    transaction,
    network: order.tender.network as Network,
    payer: order.tender.payer,
    amount: order.amount.toString(),
    extensions: await signedReceipt(issuer, transport.resource(site, order.item.kind), order),
  }
}
