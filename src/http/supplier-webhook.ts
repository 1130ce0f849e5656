import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orderIdOfReference } from '../orders/order.ts'
import type { Notifier, OrderStore } from '../orders/ports.ts'
import type { ConnectedSupplier } from '../suppliers/supplier.ts'

export interface SupplierWebhookDeps {
  readonly orders: Pick<OrderStore, 'hasten'>
  readonly notifier: Notifier
  readonly suppliers: readonly Pick<ConnectedSupplier, 'webhook'>[]
}

/** In bytes. Records of suppliers contain terms and instructions, so they are larger than buyers' bodies. */
const maxBody = 256 * 1_024

/**
 * The webhook of the suppliers; a header identifies the supplier. A report is only a hint: the store does not
 * trust its body, and looks the order up with its own API key.
 */
export function routeSupplierWebhook(app: FastifyInstance, deps: SupplierWebhookDeps): void {
  app.head('/webhooks/supplier', (_, reply) => reply.status(204).send())

  const senderOf = ({ headers }: FastifyRequest) =>
    deps.suppliers.find(({ webhook }) => webhook.isGenuine(headers))?.webhook
  // Before the body is read, because only a supplier may send a body of this size.
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
