import type { FastifyInstance } from 'fastify'

export interface ProcessorWebhookDeps {
  readonly hasten: (invoice: string) => Promise<void>
  /** The invoice that a call is about, or undefined when the processor did not send it. */
  readonly invoiceIn: (body: Buffer, signature: Header) => InvoiceEvent
}

/** A header that came not at all, once, or several times. */
export type Header = string | readonly string[] | undefined

export type InvoiceEvent =
  /** Not signed by the processor. */
  | { readonly isGenuine: false }
  /** Undefined for events about anything else. */
  | { readonly isGenuine: true; readonly invoice: string | undefined }

/** An event names an invoice and little else. */
const maxBody = 64 * 1_024

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

    scope.post('/webhooks/btcpay', { bodyLimit: maxBody }, async (request, reply) => {
      const event = deps.invoiceIn(bytesOf(request.body), request.headers['btcpay-sig'])
      if (!event.isGenuine) return reply.status(401).send()
      if (event.invoice !== undefined) await deps.hasten(event.invoice)
      return reply.status(204).send()
    })
  })
}

/** Without a body there is nothing that could be signed. */
function bytesOf(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
