import type { FastifyInstance } from 'fastify'

export interface ProcessorWebhookDeps {
  readonly hasten: (invoice: string) => Promise<void>
  /** The invoice that a call is about, or undefined when the processor did not send it. */
  readonly invoiceIn: (body: Buffer, signature: string | undefined) => InvoiceEvent
}

export type InvoiceEvent =
  /** Not signed by the processor. */
  | { readonly isGenuine: false }
  /** Undefined for events about anything else. */
  | { readonly isGenuine: true; readonly invoice: string | undefined }

/** An event names an invoice and little else. */
const bodyMost = 64 * 1_024

/**
 * Where the payment processor says that something happened to an invoice. It is a hint and nothing
 * more: the invoice is read again with our own key, and without any hint it is read in its turn.
 *
 * What is signed are the bytes of the body, so they are taken as they come.
 */
export function routeProcessorWebhook(app: FastifyInstance, deps: ProcessorWebhookDeps): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))

    scope.post('/webhooks/btcpay', { bodyLimit: bodyMost }, async (request, reply) => {
      const { body, headers } = request
      const signature = headers['btcpay-sig']
      const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
      const event = deps.invoiceIn(bytes, typeof signature === 'string' ? signature : undefined)
      if (!event.isGenuine) return reply.status(401).send()
      if (event.invoice !== undefined) await deps.hasten(event.invoice)
      return reply.status(204).send()
    })
  })
}
