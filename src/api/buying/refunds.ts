import { createHash } from 'node:crypto'
import type * as z from 'zod'
import { Refusal } from '../../lib/refusal.ts'
import { mayReveal } from '../../orders/access.ts'
import { claimRefund, notRefundable } from '../../orders/claim-refund.ts'
import { isRefunding, type Order, refundStateOf } from '../../orders/order.ts'
import { hashOf } from '../../secrets/tokens.ts'
import { refundBody } from '../views/refund.ts'
import type { BuyingDeps, FaultLog } from './deps.ts'
import { orNotNow } from './or-not-now.ts'
import { findOrder } from './orders.ts'
import { RefundClaim } from './refund-claim.ts'
import { type Credentials, knownBy } from './viewer.ts'

const destinations: ReadonlySet<string> = new Set([
  'refund_to',
  'refundTo',
  'to',
  'address',
  'destination',
  'recipient',
])

/** A refund as it stands. */
export interface RefundReport {
  readonly orderId: string
  readonly pending: boolean
  readonly body: ReturnType<typeof refundBody>
}

interface Claimed {
  readonly orderId: string
  /** The caller's idempotency key. */
  readonly key: string
  /** The fields of the claim, checked here. */
  readonly fields: Record<string, unknown>
  /** The address that it came from, as limits count it. */
  readonly client: string
  /** Whether whoever claims shows that the order is theirs. */
  readonly isOwn: (order: Order) => Promise<boolean>
}

/**
 * Claims the refund of an order, which reports the one that is under way or starts it again.
 *
 * @throws Refusal `order_not_found`, `refund_destination_refused`, `invalid_body`, `not_refundable`,
 *   `idempotency_conflict`, `budget_spent`, `try_again`
 */
export async function refundClaimed(
  deps: Pick<BuyingDeps, 'orders' | 'purchases'>,
  claimed: Claimed,
  log: FaultLog,
): Promise<RefundReport> {
  const { orderId, key, fields, client, isOwn } = claimed
  const order = await orNotNow(log, () => findOrder(deps, orderId), 'unknown')
  const claim = readClaim(order, fields)
  const bodyHash = createHash('sha256').update(JSON.stringify(claim)).digest('hex')
  const claiming = () =>
    claimRefund(deps.purchases, order, {
      ...{ key: hashOf(key), bodyHash, client },
      isOwn: () => isOwn(order),
    })
  const refunding = await orNotNow(log, claiming, 'unknown')
  return report(refunding, { idempotencyKey: key, ...reasonOf(claim) })
}

/** Whether what somebody shows makes an order theirs. Sign-ins are not looked at: one is good only once. */
export function ownedBy({ orders }: Pick<BuyingDeps, 'orders'>, shown: Credentials) {
  return (order: Order): Promise<boolean> => mayReveal(orders, order, knownBy(shown))
}

/** The refund of an order. @throws Refusal `order_not_found`, `not_refundable`, `try_again` */
export async function refundWatched(
  deps: Pick<BuyingDeps, 'orders'>,
  orderId: string,
  log: FaultLog,
): Promise<RefundReport> {
  return report(await orNotNow(log, () => findOrder(deps, orderId), 'unknown'), {})
}

function report(
  order: Order,
  claim: { readonly reason?: string; readonly idempotencyKey?: string },
): RefundReport {
  if (!isRefunding(order)) throw notRefundable(order)
  const pending = refundStateOf(order) === 'REFUND_PENDING'
  return { orderId: order.id, pending, body: refundBody(order, claim) }
}

function readClaim(order: Order, fields: Record<string, unknown>): z.infer<typeof RefundClaim> {
  const destination = Object.keys(fields).find((name) => destinations.has(name))
  if (destination !== undefined) {
    const message =
      'A refund always goes to the payer of the order; a claim cannot name another destination.'
    throw new Refusal('refund_destination_refused', message, { parameter: destination })
  }
  const claim = RefundClaim.safeParse(fields)
  if (!claim.success) {
    const errors = claim.error.issues.map((issue) => ({
      parameter: issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.join('.'),
      message:
        issue.code === 'unrecognized_keys' ? 'is not a field of a refund claim' : 'is not valid',
    }))
    throw new Refusal('invalid_body', 'The refund claim is not valid.', { extra: { errors } })
  }
  requireSameOrder(order, claim.data)
  return claim.data
}

/** A claim that names its order twice must name the same one. */
function requireSameOrder(order: Order, claim: z.infer<typeof RefundClaim>): void {
  const transaction = 'receipt' in order ? order.receipt.transaction : undefined
  const wrong =
    (claim.paymentId !== undefined && claim.paymentId !== order.paymentId && 'paymentId') ||
    (claim.transactionHash !== undefined &&
      claim.transactionHash !== transaction &&
      'transactionHash') ||
    (claim.orderIds?.some((id) => id !== order.id) && 'orderIds')
  if (!wrong) return
  const message = `${wrong} does not belong to the order ${order.id}.`
  throw new Refusal('invalid_body', message, { parameter: wrong })
}

function reasonOf({ reason }: z.infer<typeof RefundClaim>): { reason?: string } {
  return reason === undefined ? {} : { reason }
}
