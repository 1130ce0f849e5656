import type { FastifyInstance, FastifyRequest } from 'fastify'
import { orderIdOfReference } from '../orders/order.ts'
import type { Doorbell, OrderStore } from '../orders/ports.ts'

export interface WebhookDeps {
  readonly orders: Pick<OrderStore, 'hasten'>
  readonly doorbell: Doorbell
  /** Our reference in a call that the supplier sent, or undefined when it is not from the supplier. */
  readonly referenceIn: (headers: FastifyRequest['headers'], body: unknown) => string | undefined
}

/** Supplier records carry terms and instructions, so they are larger than what buyers send. */
const bodyMost = 256 * 1_024

/**
 * Where the supplier says that something happened. It is a hint and nothing more: what the body
 * says is never believed, the order is looked up again with our own key.
 */
export function routeWebhook(app: FastifyInstance, deps: WebhookDeps): void {
  app.head('/webhooks/supplier', (_, reply) => reply.status(204).send())

  app.post('/webhooks/supplier', { bodyLimit: bodyMost }, async (request, reply) => {
    const reference = deps.referenceIn(request.headers, request.body)
    if (reference === undefined) return reply.status(401).send()
    const order = orderIdOfReference(reference)
    if (order !== undefined) {
      await deps.orders.hasten(order)
      deps.doorbell.ring(order)
    }
    return reply.status(204).send()
  })
}
