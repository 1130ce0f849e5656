import type { Network } from '@x402/core/types'
import type { Order } from '../../orders/order.ts'
import { PaymentPayload } from '../../payments/x402.ts'
import { signedReceipt } from '../extensions/offer-receipt.ts'
import { transactionOf } from '../orders/order.ts'
import type { PaymentRequiredDeps, PaymentTransport } from './payment-required.ts'

/** The payment of a call, or why it cannot be read. */
export type Presented =
  | { readonly type: 'none' }
  | { readonly type: 'payment'; readonly payment: PaymentPayload }
  | { readonly type: 'unreadable'; readonly reason: string }

/** A payment of x402 version 1. Its version is reported before any other fault. */
export const versionOne: Presented = {
  type: 'unreadable',
  reason: 'This store does not take x402 version 1. Pay with version 2',
}

/**
 * Reads a payment that a transport has decoded. Never throws, because it may come from an attacker.
 *
 * @param unreadable makes the result for a payment that is not accepted, in the words of the transport
 */
export function presentedIn(decoded: unknown, unreadable: (why: string) => Presented): Presented {
  if (isVersionOne(decoded)) return versionOne
  const parsed = PaymentPayload.safeParse(decoded)
  if (parsed.success) return { type: 'payment', payment: parsed.data }
  const [issue] = parsed.error.issues
  return unreadable(`${issue?.path.join('.') || 'its content'} is missing or malformed`)
}

function isVersionOne(decoded: unknown): boolean {
  const isObject = typeof decoded === 'object' && decoded !== null
  return isObject && 'x402Version' in decoded && decoded.x402Version === 1
}

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
