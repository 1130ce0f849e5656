import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { forbidden } from '../errors.ts'
import { createInvoice, invoiceOf, markInvoice } from '../invoices.ts'
import type { Invoice } from '../models.ts'
import { invoiceView, promptView } from '../views.ts'
import { flag, listOf, numberOf, type Query } from './query.ts'

type Call = { Params: { id: string }; Querystring: Query }

/** Routes of invoices. They are made in a store, and then found by their id alone. */
export function invoiceRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, place } = deps
  const ofInvoice = '/api/v1/invoices/:id'
  // The server finds the store of a call by its invoice. For an unknown invoice the key therefore has no permission.
  app.addHook<Call>('preHandler', async ({ routeOptions, params }) => {
    if (!routeOptions.url?.startsWith(ofInvoice) || ledger.find('invoice', params.id)) return
    throw forbidden('btcpay.store.canviewinvoices')
  })
  const one = (invoice: Invoice, query: Query) => ({
    ...invoiceView(place, invoice),
    ...(flag(query['includePaymentMethods'])
      ? { paymentMethods: invoice.prompts.map((prompt) => promptView(invoice, prompt)) }
      : {}),
  })
  app.post('/api/v1/stores/:storeId/invoices', (request) =>
    invoiceView(place, createInvoice(deps, request.body, Date.now())),
  )
  app.get<Call>('/api/v1/stores/:storeId/invoices', ({ query }) =>
    found(ledger.all('invoice'), query).map((invoice) => one(invoice, query)),
  )
  const ofStore = '/api/v1/stores/:storeId/invoices/:id'
  // Releases before 2.4 know only the longer path.
  for (const base of [ofInvoice, ofStore]) {
    app.get<Call>(base, ({ params, query }) => one(invoiceOf(deps, params.id), query))
    app.delete<Call>(base, ({ params }, reply) => {
      ledger.commit({ ...invoiceOf(deps, params.id), archived: true })
      return reply.send()
    })
    app.get<Call>(`${base}/payment-methods`, ({ params }) => {
      const invoice = invoiceOf(deps, params.id)
      return invoice.prompts.map((prompt) => promptView(invoice, prompt))
    })
    app.post<Call>(`${base}/status`, ({ params, body }) =>
      invoiceView(place, markInvoice(deps, params.id, body, Date.now())),
    )
  }
}

/** Newest first, as the real server lists them. */
function found(all: readonly Invoice[], query: Query): readonly Invoice[] {
  const orderIds = listOf(query['orderId'])
  const text = listOf(query['textSearch'])[0]
  const statuses = listOf(query['status']).map((status) => status.toLowerCase())
  const skip = numberOf('skip', query['skip']) ?? 0
  const take = numberOf('take', query['take']) ?? all.length
  const fitting = all.filter(
    ({ id, archived, metadata, status }) =>
      (!archived || flag(query['includeArchived'])) &&
      (text === undefined || text === id) &&
      (orderIds.length === 0 || orderIds.includes(String(metadata['orderId']))) &&
      (statuses.length === 0 || statuses.includes(status.toLowerCase())),
  )
  return fitting.toReversed().slice(skip, skip + take)
}
