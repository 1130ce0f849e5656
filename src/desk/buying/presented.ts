import type { Network } from '@x402/core/types'
import type { Order } from '../../orders/order.ts'
import { PaymentPayload } from '../../payments/x402.ts'
import { transactionOf } from '../views/order.ts'

/** What a call brings as its payment, or why it cannot be read. */
export type Presented =
  | { readonly type: 'none' }
  | { readonly type: 'payment'; readonly payment: PaymentPayload }
  | { readonly type: 'unreadable'; readonly reason: string }

/**
 * Reads a payment that a door has decoded. Never throws: an attacker writes it.
 *
 * @param unreadable says why it is not taken, in the words of the door
 */
export function presentedIn(decoded: unknown, unreadable: (why: string) => Presented): Presented {
  const parsed = PaymentPayload.safeParse(decoded)
  if (parsed.success) return { type: 'payment', payment: parsed.data }
  const [issue] = parsed.error.issues
  return unreadable(`${issue?.path.join('.') || 'its content'} is missing or malformed`)
}

/** The receipt of a settled payment, in the words of x402. */
export interface Settled {
  readonly success: true
  readonly transaction: string
  readonly network: Network
  readonly payer: string
  readonly amount: string
}

/** The receipt of a payment that is proven; undefined while it is not. */
export function settledOf(order: Order): Settled | undefined {
  const transaction = transactionOf(order)
  if (transaction === null) return undefined
  return {
    success: true,
    transaction,
    network: order.tender.network as Network,
    payer: order.tender.payer,
    amount: order.amount.toString(),
  }
}
