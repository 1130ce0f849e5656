import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { orderIdOfReference } from '../orders/order.ts'
import type { Notifier, OrderStore } from '../orders/ports.ts'
import type { ConnectedSupplier } from '../suppliers/supplier.ts'

/**
 * A report to a webhook is only a hint to look sooner, with the store's own API key, at what it would look at anyway.
 */

export interface SupplierWebhookDeps {
  readonly orders: Pick<OrderStore, 'hasten'>
  readonly notifier: Notifier
  readonly suppliers: readonly Pick<ConnectedSupplier, 'webhook'>[]
}

/** In bytes. Records of suppliers contain terms and instructions, so they are larger than buyers' bodies. */
const maxSupplierBody = 256 * 1_024

export function routeSupplierWebhook(app: FastifyInstance, deps: SupplierWebhookDeps): void {
  app.head('/webhooks/supplier', (_, reply) => reply.status(204).send())

  const senderOf = ({ headers }: FastifyRequest) =>
    deps.suppliers.find(({ webhook }) => webhook.isGenuine(headers))?.webhook
  // Before the body is read, because only a supplier may send a body of this size.
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) =>
    senderOf(request) ? undefined : reply.status(401).send()

  const options = { bodyLimit: maxSupplierBody, onRequest }
  app.post('/webhooks/supplier', options, async (request, reply) => {
    const order = orderIdOfReference(senderOf(request)?.referenceIn(request.body) ?? '')
    if (order !== undefined) {
      await deps.orders.hasten(order)
      deps.notifier.notify(order)
    }
    return reply.status(204).send()
  })
}

export interface ProcessorWebhookDeps {
  readonly hasten: (invoice: string) => Promise<void>
  readonly invoiceIn: (body: Buffer, signature: Header) => InvoiceEvent
}

export type Header = string | readonly string[] | undefined

export type InvoiceEvent =
  | { readonly isGenuine: false }
  /** Undefined for events about anything else. */
  | { readonly isGenuine: true; readonly invoice: string | undefined }

/** In bytes; an event contains little more than the id of its invoice. */
const maxEvent = 64 * 1_024

/** The webhook of the payment processor. The signature covers the bytes of the body, so they are not parsed before. */
export function routeProcessorWebhook(app: FastifyInstance, deps: ProcessorWebhookDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))

    scope.post('/webhooks/btcpay', { bodyLimit: maxEvent }, async ({ body, headers }, reply) => {
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
      const event = deps.invoiceIn(bytes, headers['btcpay-sig'])
      if (!event.isGenuine) return reply.status(401).send()
      if (event.invoice !== undefined) await deps.hasten(event.invoice)
      return reply.status(204).send()
    })
  })
}
