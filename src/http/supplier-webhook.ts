import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orderIdOfReference } from '../orders/order.ts'
import type { Notifier, OrderStore } from '../orders/ports.ts'

export interface SupplierWebhookDeps {
  readonly orders: Pick<OrderStore, 'hasten'>
  readonly notifier: Notifier
  /** Whether the supplier sent this call. */
  readonly isGenuine: (headers: FastifyRequest['headers']) => boolean
  /** Our reference in the body, or undefined when there is none. */
  readonly referenceIn: (body: unknown) => string | undefined
}

/** Supplier records carry terms and instructions, so they are larger than what buyers send. */
const maxBody = 256 * 1_024

/**
 * Where the supplier says that something happened. It is a hint and nothing more: what the body
 * says is never believed, the order is looked up again with our own key.
 */
export function routeSupplierWebhook(app: FastifyInstance, deps: SupplierWebhookDeps): void {
  app.head('/webhooks/supplier', (_, reply) => reply.status(204).send())

  // Before the body is read: nobody else may have us read that much.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    deps.isGenuine(request.headers) ? undefined : reply.status(401).send()

  app.post('/webhooks/supplier', { bodyLimit: maxBody, onRequest }, async (request, reply) => {
    const order = orderIdOfReference(deps.referenceIn(request.body) ?? '')
    if (order !== undefined) {
      await deps.orders.hasten(order)
      deps.notifier.notify(order)
    }
    return reply.status(204).send()
  })
}
