import * as z from 'zod'
import { echoOf } from '../../catalog/search/params.ts'
import { refundIdOf } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import {
  isPaid,
  isRefunding,
  type Order,
  type Refunding,
  refundStateOf,
} from '../../orders/order.ts'
import { notRefundable, claimRefund as startClaim } from '../../orders/refund.ts'
import { mayReveal } from '../../orders/replay.ts'
import { paidIn, publicPayerOf } from '../../payments/payment.ts'
import { hashOf } from '../../secrets/secrets.ts'
import { idempotencyKey, orderId, tokenHeader, viewerWithoutWallet } from '../buying/credentials.ts'
import { refundDeadlineSeconds, retryAfterSeconds } from '../buying/payment-required.ts'
import {
  type Answer,
  atomic,
  type BuyingDeps,
  type Credentials,
  type Fields,
  type OrderOperation,
  publish,
  refundPath,
  refusesBody,
  type Site,
  shapeOf,
  time,
  transactionHash,
} from '../operation.ts'
import { findOrder } from './find-orders.ts'
import { laterHeaders, RefundState, transactionOf } from './order.ts'
import { helpFor } from './outcome.ts'

interface ClaimDetails {
  readonly reason?: string | undefined
  readonly idempotencyKey?: string | undefined
}

type Claimed = ClaimDetails & {
  readonly order: Refunding
  readonly paid: Extract<Refunding['payout'], { state: 'CONFIRMED' }> | undefined
}

/** The refund object of x402-signals 7.2. */
const refundFields = {
  refundId: [z.string(), ({ order }) => refundIdOf(order.id)],
  paymentId: [z.string(), ({ order }) => order.paymentId],
  orderId: [z.string(), ({ order }) => order.id],
  state: [RefundState, ({ order }) => refundStateOf(order)],
  state_updated_at: [
    time,
    ({ order, paid }) => (paid?.confirmedAt ?? order.changedAt).toISOString(),
  ],
  refund_to: [
    z
      .string()
      .describe(
        'Always the wallet that paid; for another coin, the last letters of the address its buyer gave',
      ),
    ({ order }) => publicPayerOf(order.payment),
  ],
  amount_atomic: [atomic, ({ order }) => paidIn(order.payment).units.toString()],
  amount_atomic_refunded: [atomic.nullable(), ({ order }) => splitOf(order)[0]],
  amount_atomic_kept: [atomic.nullable(), ({ order }) => splitOf(order)[1]],
  asset: [z.string(), ({ order }) => order.payment.asset],
  asset_decimals: [z.int().min(6).max(18), ({ order }) => paidIn(order.payment).decimals],
  network: [z.string(), ({ order }) => order.payment.network],
  transactionHash: [transactionHash, ({ paid }) => paid?.transaction ?? null],
  reason: [z.string(), ({ order, reason }) => reason ?? order.failure.message],
  idempotency_key: [z.string().nullable(), ({ idempotencyKey }) => idempotencyKey ?? null],
  deadline: [
    time,
    ({ order }) =>
      new Date(order.changedAt.getTime() + refundDeadlineSeconds * 1_000).toISOString(),
  ],
  error: [
    z.object({ code: z.string(), message: z.string() }).optional(),
    ({ order: { payout } }) =>
      payout?.state === 'FAILED' ? { code: payout.code, message: payout.reason } : undefined,
  ],
} satisfies Fields<Claimed>

const RefundAnswer = shapeOf(refundFields, 'RefundAnswer')

export const maxReason = 500

/** The fields of a claim (x402-signals 7.1). A claim cannot name the destination. */
const RefundClaim = z.strictObject({
  paymentId: z.string().max(100).optional(),
  transactionHash: z.string().max(100).toLowerCase().optional(),
  orderIds: z.array(z.string().max(100)).max(10).optional(),
  reason: z.string().max(maxReason).optional(),
})
type RefundClaim = z.infer<typeof RefundClaim>

const refund = {
  path: refundPath('{orderId}'),
  group: 'Orders',
  pathParams: orderId,
  answers: {
    200: { description: 'Paid back', shape: RefundAnswer },
    202: {
      description: 'The money is on its way back. Look again.',
      shape: RefundAnswer,
      headers: laterHeaders,
    },
  },
  access: 'free',
  charges: true,
} as const

export const claimRefund: OrderOperation = {
  ...refund,
  id: 'claimRefund',
  method: 'POST',
  name: 'Claim a refund',
  description:
    'Starts or reports the refund of an order that failed. Refunds start by themselves, so a claim is never needed; it always goes to the wallet that paid, in full.',
  headers: { ...tokenHeader, 'Idempotency-Key': { ...idempotencyKey, required: true } },
  body: z.toJSONSchema(RefundClaim),
  refusals: [
    'idempotency_key_missing',
    'idempotency_conflict',
    ...refusesBody,
    'invalid_body',
    'invalid_header',
    'order_not_found',
    'not_refundable',
    'refund_destination_refused',
    'budget_spent',
    'try_again',
  ],
  limit: 'purchase',
  async run(call, deps) {
    const { orderId: id, client } = call
    const fields = call.fields()
    const credentials = call.readCredentials()
    const key = credentials.idempotencyKey
    if (key === undefined) {
      const message = 'A refund claim needs an Idempotency-Key header.'
      throw new Refusal('idempotency_key_missing', message, { parameter: 'Idempotency-Key' })
    }
    const claim = { orderId: id, key, fields, client, isOwn: ownedBy(deps, credentials) }
    return answerOf(await refundClaimed(deps, claim))
  },
}

export const getRefund: OrderOperation = {
  ...refund,
  id: 'getRefund',
  method: 'GET',
  name: 'Watch a refund',
  description: 'The refund of an order that failed.',
  refusals: ['order_not_found', 'not_refundable', 'try_again'],
  limit: 'reading',
  run: async (call, deps) => answerOf(await refundWatched(deps, call.orderId)),
}

function answerOf(body: ReturnType<typeof refundBody>): Answer {
  if (body.state !== 'REFUND_PENDING') return { body }
  const headers = {
    location: refundPath(body.orderId),
    'retry-after': String(retryAfterSeconds),
  }
  return { status: 202, body, headers }
}

interface Claim {
  readonly orderId: string
  readonly key: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly client: string
  /** Whether the claimant has proven that the order is theirs. */
  readonly isOwn: (order: Order) => Promise<boolean>
}

export async function refundClaimed(
  deps: Pick<BuyingDeps, 'orders' | 'purchases' | 'site'>,
  { orderId, key, fields, client, isOwn }: Claim,
) {
  const order = await findOrder(deps, orderId)
  const claim = readClaim(order, fields)
  requireRefunding(order, deps.site)
  const refunding = await startClaim(deps.purchases, order, {
    ...{ key: hashOf(key), bodyHash: hashOf(JSON.stringify(claim)), client },
    isOwn: () => isOwn(order),
  })
  return refundBody(refunding, { idempotencyKey: key, reason: claim.reason })
}

/** Sign-ins are not checked: each can be used only once. */
export function ownedBy({ orders }: Pick<BuyingDeps, 'orders'>, credentials: Credentials) {
  return async (order: Order): Promise<boolean> =>
    (await mayReveal(orders, order, viewerWithoutWallet(credentials))) !== false
}

export async function refundWatched(deps: Pick<BuyingDeps, 'orders' | 'site'>, orderId: string) {
  const order = await findOrder(deps, orderId)
  requireRefunding(order, deps.site)
  return refundBody(order)
}

/** Whose goods do not work cannot be refunded by this, and is told who can help. */
function requireRefunding(order: Order, site: Pick<Site, 'contact'>): asserts order is Refunding {
  if (isRefunding(order)) return
  const { code, message, details } = notRefundable(order)
  const extra = { ...details.extra, contact: site.contact, orderId: order.id }
  throw new Refusal(code, `${message} ${helpFor(order, site)}`, { ...details, extra })
}

export function refundBody(order: Refunding, claim: ClaimDetails = {}) {
  const paid = order.payout?.state === 'CONFIRMED' ? order.payout : undefined
  return publish(refundFields, { order, paid, ...claim })
}

const destinations: ReadonlySet<string> = new Set([
  'refund_to',
  'refundTo',
  'to',
  'address',
  'destination',
  'recipient',
])

function readClaim(order: Order, fields: Claim['fields']): RefundClaim {
  const destination = Object.keys(fields).find((name) => destinations.has(name))
  if (destination !== undefined) {
    const message =
      'A refund always goes to the payer of the order; a claim cannot name another destination.'
    throw new Refusal('refund_destination_refused', message, { parameter: destination })
  }
  const claim = RefundClaim.safeParse(fields)
  if (!claim.success) {
    const errors = claim.error.issues.map((issue) =>
      issue.code === 'unrecognized_keys'
        ? {
            parameter: issue.keys.map(echoOf).join(', '),
            message: 'is not a field of a refund claim',
          }
        : { parameter: issue.path.join('.'), message: 'is not valid' },
    )
    throw new Refusal('invalid_body', 'The refund claim is not valid.', { extra: { errors } })
  }
  requireSameOrder(order, claim.data)
  return claim.data
}

function requireSameOrder(order: Order, claim: RefundClaim): void {
  const { paymentId, transactionHash, orderIds = [] } = claim
  const named = [
    ['paymentId', [paymentId], order.paymentId],
    ['transactionHash', [transactionHash], transactionOf(order)?.toLowerCase()],
    ['orderIds', orderIds, order.id],
  ] as const
  for (const [parameter, given, own] of named) {
    if (given.every((one) => one === undefined || one === own)) continue
    const message = `${parameter} does not belong to the order ${order.id}.`
    throw new Refusal('invalid_body', message, { parameter })
  }
}

/** What went back and what was kept: null until that is certain. There are no partial refunds. */
function splitOf(order: Refunding): readonly [string | null, string | null] {
  const whole = paidIn(order.payment).units.toString()
  if (order.payout?.state === 'CONFIRMED') return [whole, '0']
  // A payment that vanished never came, so there is nothing to keep.
  if (!isPaid(order)) return ['0', '0']
  return order.payout?.state === 'FAILED' ? ['0', whole] : [null, null]
}
