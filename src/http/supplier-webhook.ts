import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orderIdOfReference } from '../orders/order.ts'
import type { Notifier, OrderStore } from '../orders/ports.ts'
import type { ConnectedSupplier } from '../suppliers/supplier.ts'

export interface SupplierWebhookDeps {
  readonly orders: Pick<OrderStore, 'hasten'>
  readonly notifier: Notifier
  readonly suppliers: readonly Pick<ConnectedSupplier, 'webhook'>[]
}

/** Supplier records carry terms and instructions, so they are larger than what buyers send. */
const maxBody = 256 * 1_024

/**
 * Where a supplier says that something happened; its header tells which. It is a hint and nothing more: what the body
 * says is never believed, the order is looked up again with our own key.
 */
export function routeSupplierWebhook(app: FastifyInstance, deps: SupplierWebhookDeps): void {
  app.head('/webhooks/supplier', (_, reply) => reply.status(204).send())

  const senderOf = ({ headers }: FastifyRequest) =>
    deps.suppliers.find(({ webhook }) => webhook.isGenuine(headers))?.webhook
  // Before the body is read: nobody else may have us read that much.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    senderOf(request) ? undefined : reply.status(401).send()

  app.post('/webhooks/supplier', { bodyLimit: maxBody, onRequest }, async (request, reply) => {
    const order = orderIdOfReference(senderOf(request)?.referenceIn(request.body) ?? '')
    if (order !== undefined) {
      await deps.orders.hasten(order)
      deps.notifier.notify(order)
    }
    return reply.status(204).send()
  })
}
