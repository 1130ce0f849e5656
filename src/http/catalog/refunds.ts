import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import {
  ownedBy,
  type RefundReport,
  refundClaimed,
  refundWatched,
} from '../../api/buying/refunds.ts'
import { refundPath } from '../../api/paths.ts'
import { retryAfterSeconds } from '../../api/views/order-message.ts'
import { Refusal } from '../../lib/refusal.ts'
import { clientKeyOf } from '../client-key.ts'
import { credentialsIn, idempotencyKeyOf, postedFields, privately } from './buying.ts'

const config = { limit: 'purchase', charges: true } as const

export function routeRefunds(app: FastifyInstance, deps: BuyingDeps): void {
  const path = refundPath(':orderId')
  app.post(path, { config }, async (request, reply) => {
    const fields = postedFields(request)
    const key = idempotencyKeyOf(request)
    if (key === undefined) {
      const message = 'A refund claim needs an Idempotency-Key header.'
      throw new Refusal('idempotency_key_missing', message, { parameter: 'Idempotency-Key' })
    }
    const client = clientKeyOf(request.ip)
    const isOwn = ownedBy(deps, credentialsIn(request))
    const claimed = { orderId: orderIdOf(request), key, fields, client, isOwn }
    return send(reply, await refundClaimed(deps, claimed, request.log))
  })

  app.get(path, { config: { limit: 'reading', charges: true } }, async (request, reply) =>
    send(reply, await refundWatched(deps, orderIdOf(request), request.log)),
  )
}

function send(reply: FastifyReply, { orderId, pending, body }: RefundReport) {
  privately(reply).status(pending ? 202 : 200)
  if (pending) {
    reply.headers({ location: refundPath(orderId), 'retry-after': String(retryAfterSeconds) })
  }
  return reply.send(body)
}

function orderIdOf(request: FastifyRequest): string {
  return (request.params as { orderId: string }).orderId
}
