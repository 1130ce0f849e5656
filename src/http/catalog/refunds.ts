import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { claimRefund, notRefundable } from '../../orders/claim-refund.ts'
import { isRefunding, type Order, refundStateOf } from '../../orders/order.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { hashOf } from '../../secrets/tokens.ts'
import { retryAfterSeconds } from '../order-address.ts'
import { refundBody, refundPath } from '../views/refund.ts'
import { type BuyingDeps, fieldsOf, idempotencyKeyOf, orNotNow, privately } from './buying.ts'
import { findOrder } from './orders.ts'

/** What a claim may say (x402-signals 7.1). Where the money goes is not for the claim to say. */
const Claim = z.strictObject({
  paymentId: z.string().max(100).optional(),
  transactionHash: z.string().max(100).optional(),
  orderIds: z.array(z.string().max(100)).max(10).optional(),
  reason: z.string().max(500).optional(),
})

const destinations: ReadonlySet<string> = new Set([
  'refund_to',
  'refundTo',
  'to',
  'address',
  'destination',
  'recipient',
])

const config = { limit: 'purchase', charges: true } as const

export function routeRefunds(app: FastifyInstance, deps: BuyingDeps): void {
  const path = refundPath(':orderId')
  app.post(path, { config }, async (request, reply) => {
    const key = idempotencyKeyOf(request)
    if (key === undefined) {
      const message = 'A refund claim needs an Idempotency-Key header.'
      throw new Refusal('idempotency_key_missing', message, { parameter: 'Idempotency-Key' })
    }
    const order = await orNotNow(request, () => findOrder(deps, orderIdOf(request)), 'unknown')
    const claim = readClaim(order, fieldsOf(request.body))
    const bodyHash = createHash('sha256').update(JSON.stringify(claim)).digest('hex')
    const claimed = await orNotNow(
      request,
      () => claimRefund(deps, order, { key: hashOf(key), bodyHash }),
      'unknown',
    )
    return send(reply, claimed, { idempotencyKey: key, ...reasonOf(claim) })
  })

  app.get(path, { config: { limit: 'reading', charges: true } }, async (request, reply) => {
    const order = await orNotNow(request, () => findOrder(deps, orderIdOf(request)), 'unknown')
    return send(reply, order, {})
  })
}

function send(
  reply: FastifyReply,
  order: Order,
  claim: { reason?: string; idempotencyKey?: string },
) {
  if (!isRefunding(order)) throw notRefundable(order)
  const pending = refundStateOf(order) === 'REFUND_PENDING'
  privately(reply).status(pending ? 202 : 200)
  if (pending) {
    reply.headers({ location: refundPath(order.id), 'retry-after': String(retryAfterSeconds) })
  }
  return reply.send(refundBody(order, claim))
}

function readClaim(order: Order, fields: Record<string, unknown>): z.infer<typeof Claim> {
  const destination = Object.keys(fields).find((name) => destinations.has(name))
  if (destination !== undefined) {
    const message =
      'A refund always goes to the payer of the order; a claim cannot name another destination.'
    throw new Refusal('refund_destination_refused', message, { parameter: destination })
  }
  const claim = Claim.safeParse(fields)
  if (!claim.success) {
    const errors = claim.error.issues.map((issue) => ({
      parameter: issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.join('.'),
      message:
        issue.code === 'unrecognized_keys' ? 'is not a field of a refund claim' : 'is not valid',
    }))
    throw new Refusal('invalid_body', 'The refund claim is not valid.', { errors })
  }
  requireSameOrder(order, claim.data)
  return claim.data
}

/** A claim that names its order twice must name the same one. */
function requireSameOrder(order: Order, claim: z.infer<typeof Claim>): void {
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

function reasonOf({ reason }: z.infer<typeof Claim>): { reason?: string } {
  return reason === undefined ? {} : { reason }
}

function orderIdOf(request: FastifyRequest): string {
  return (request.params as { orderId: string }).orderId
}
