import type { FastifyInstance } from 'fastify'

export interface ProcessorWebhookDeps {
  readonly hasten: (invoice: string) => Promise<void>
  /** Checks the signature of a call, and reads the invoice that it names. */
  readonly invoiceIn: (body: Buffer, signature: Header) => InvoiceEvent
}

/** A header that is absent, sent once, or repeated. */
export type Header = string | readonly string[] | undefined

export type InvoiceEvent =
  /** Not signed by the processor. */
  | { readonly isGenuine: false }
  /** Undefined for events about anything else. */
  | { readonly isGenuine: true; readonly invoice: string | undefined }

/** An event contains little more than the id of its invoice; bytes. */
const maxBody = 64 * 1_024

/**
 * The webhook of the payment processor, which reports events of invoices. A report is only a hint: it makes the
 * store read the invoice sooner, with its own API key. Without a report the invoice is read on schedule.
 *
 * The signature covers the bytes of the body, so the body is not parsed before it is checked.
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

/** The bytes of the body; none if the request has no body. */
function bytesOf(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
