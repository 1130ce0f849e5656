import type { FastifyInstance } from 'fastify'
import { formatDecimal, unitsFor, worthOf } from './amounts.ts'
import { coins, isTicker, symbols } from './coins.ts'
import type { Deps } from './deps.ts'
import { forbidden, invalid } from './errors.ts'
import { createInvoice, invoiceOf, markInvoice } from './invoices.ts'
import type { Invoice } from './models.ts'
import {
  archivePullPayment,
  claim,
  createPullPayment,
  payoutMethods,
  payoutOf,
  pullPaymentOf,
} from './payouts.ts'
import { invoiceView, payoutView, promptView, pullPaymentView } from './views.ts'
import { webhookId } from './webhooks.ts'

/** A query as Fastify reads it: a parameter given once is a string, a repeated one is a list. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>
type Call = { Params: { id: string }; Querystring: Query }

function listOf(value: Query[string]): readonly string[] {
  return typeof value === 'string' ? [value] : (value ?? [])
}

function flag(value: Query[string]): boolean {
  return String(value).toLowerCase() === 'true'
}

/** @throws ApiError 422 if it is given and not a whole number */
function numberOf(name: string, value: Query[string]): number | undefined {
  if (value === undefined || value === '') return undefined
  if (/^\d{1,9}$/.test(String(value))) return Number(value)
  throw invalid(name, `The value '${String(value)}' is not valid.`)
}

/** Routes of invoices. They are made in a store, and then found by their id alone, or also by their store. */
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
  const ofStore = '/api/v1/stores/:storeId/invoices'
  app.post(ofStore, ({ body }) => invoiceView(place, createInvoice(deps, body, Date.now())))
  app.get<Call>(ofStore, ({ query }) =>
    found(ledger.all('invoice'), query).map((invoice) => one(invoice, query)),
  )
  for (const base of [ofInvoice, `${ofStore}/:id`]) {
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

/** Routes of pull payments, from which anyone with the link may claim, and of their payouts. */
export function pullPaymentRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, place } = deps
  const ofStore = '/api/v1/stores/:storeId/pull-payments'
  app.post(ofStore, ({ body }) => pullPaymentView(place, createPullPayment(deps, body, Date.now())))
  app.get<Call>(ofStore, ({ query }) =>
    ledger
      .all('pull-payment')
      .filter(({ archived }) => !archived || flag(query['includeArchived']))
      .toReversed()
      .map((pull) => pullPaymentView(place, pull)),
  )
  const one = '/api/v1/pull-payments/:id'
  app.get<Call>(one, ({ params }) => pullPaymentView(place, pullPaymentOf(deps, params.id)))
  for (const path of [one, `${ofStore}/:id`]) {
    app.delete<Call>(path, ({ params }, reply) => {
      archivePullPayment(deps, params.id)
      return reply.send()
    })
  }
  app.get<Call>('/api/v1/payouts/:id', ({ params }) => payoutView(payoutOf(deps, params.id)))
  app.post<Call>(`${one}/payouts`, ({ params, body }) =>
    payoutView(claim(deps, params.id, body, Date.now())),
  )
  app.get<Call>(`${one}/payouts`, ({ params, query }) => {
    const pull = pullPaymentOf(deps, params.id)
    if (pull.archived && deps.settings.archiveHidesPayouts) return []
    const isCancelledToo = flag(query['includeCancelled'])
    return ledger
      .all('payout')
      .filter(({ pullPaymentId }) => pullPaymentId === pull.id)
      .filter(({ state }) => isCancelledToo || state !== 'Cancelled')
      .toReversed()
      .map(payoutView)
  })
}

/** Routes about the store, the API key and the server. */
export function storeRoutes(app: FastifyInstance, deps: Deps): void {
  const { storeId } = deps.place
  app.get('/api/v1/health', () => ({ synchronized: true }))
  app.get('/api/v1/api-keys/current', () => ({
    apiKey: deps.settings.apiKey,
    label: 'Sandbox',
    permissions: deps.settings.permissions.map((permission) => `${permission}:${storeId}`),
  }))
  app.get('/api/v1/stores/:storeId', () => ({
    id: storeId,
    name: 'Sandbox store',
    defaultCurrency: 'USD',
    invoiceExpiration: 900,
    monitoringExpiration: 86_400,
    speedPolicy: 'MediumSpeed',
    paymentTolerance: 0,
  }))
  app.get<{ Querystring: Query }>('/api/v1/stores/:storeId/rates', ({ query }) =>
    ratesOf(deps, listOf(query['currencyPair'])),
  )
  app.get('/api/v1/stores/:storeId/payout-processors', () => {
    const name = 'OnChainAutomatedPayoutSenderFactory'
    const view = { name, friendlyName: 'Automated payout sender', payoutMethods }
    return deps.ledger.settings().processor ? [view] : []
  })
  app.get<{ Querystring: Query }>('/api/v1/stores/:storeId/payment-methods', ({ query }) => {
    if (listOf(query['onlyEnabled'])[0] === 'false') return []
    return symbols.map((symbol) => ({ enabled: true, paymentMethodId: coins[symbol].methodId }))
  })
  app.get('/api/v1/stores/:storeId/webhooks', () => {
    const authorizedEvents = { everything: true, specificEvents: [] }
    const url = deps.settings.webhook?.url
    const view = { id: webhookId, enabled: true, automaticRedelivery: true, url, authorizedEvents }
    return url === undefined ? [] : [view]
  })
}

/**
 * The rates of the requested pairs, with an error for each unknown one; of all coins in dollars if none is requested.
 */
function ratesOf(deps: Deps, requested: readonly string[]) {
  const pairs = requested.length > 0 ? requested : symbols.map((symbol) => `${symbol}_USD`)
  return pairs.map((currencyPair) => {
    const rate = rateOf(deps, currencyPair.toUpperCase())
    return rate === undefined
      ? { currencyPair, errors: [`No rate for ${currencyPair}`] }
      : { currencyPair, errors: [], rate }
  })
}

function rateOf({ ledger }: Deps, pair: string): string | undefined {
  const [left = '', right = ''] = pair.split('_')
  const { rates } = ledger.settings()
  if (isTicker(left) && right === 'USD') return rates[left]
  if (left !== 'USD' || !isTicker(right)) return undefined
  const { decimals } = coins[right]
  return formatDecimal(unitsFor(worthOf(1n, 0, '1'), decimals, rates[right]), decimals)
}
