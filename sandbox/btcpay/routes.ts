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
  pullPaymentOf,
} from './payouts.ts'
import { invoiceView, methodsView, payoutView, pullPaymentView } from './views.ts'
import { webhookId } from './webhooks.ts'

/** A query as Fastify reads it: a parameter given once is a string, a repeated one is a list. */
type Query = Readonly<Record<string, string | readonly string[] | undefined>>
type Call = { Params: { id: string }; Querystring: Query }

const api = '/api/v1'
const ofStore = `${api}/stores/:storeId`

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

/** Routes of invoices. They are made in a store, and then found by their id. */
export function invoiceRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, place, settings } = deps
  const asked = (onlyAccounted: boolean) => ({ ahead: settings.hostAheadMinutes, onlyAccounted })
  // The server finds the store of a call by its invoice. For an unknown invoice the key therefore has no permission.
  app.addHook<Call>('preHandler', async ({ routeOptions, params }) => {
    if (!routeOptions.url?.includes('/invoices/:id') || ledger.find('invoice', params.id)) return
    throw forbidden('btcpay.store.canviewinvoices')
  })
  const view = (invoice: Invoice, query: Query) => ({
    ...invoiceView(place, invoice),
    ...(flag(query['includePaymentMethods']) && {
      paymentMethods: methodsView(invoice, asked(true)),
    }),
  })
  app.post(`${ofStore}/invoices`, ({ body }) =>
    invoiceView(place, createInvoice(deps, body, Date.now())),
  )
  app.get<Call>(`${ofStore}/invoices`, ({ query }) =>
    found(ledger.all('invoice'), query).map((invoice) => view(invoice, query)),
  )
  // Each call on an invoice has two paths, of which the shorter one is not in every release.
  for (const one of [`${ofStore}/invoices/:id`, `${api}/invoices/:id`]) {
    app.get<Call>(one, ({ params, query }) => view(invoiceOf(deps, params.id), query))
    app.delete<Call>(one, ({ params }, reply) => {
      ledger.commit({ ...invoiceOf(deps, params.id), archived: true })
      return reply.send()
    })
    app.get<Call>(`${one}/payment-methods`, ({ params, query }) => {
      const { onlyAccountedPayments = 'true' } = query
      return methodsView(invoiceOf(deps, params.id), asked(flag(onlyAccountedPayments)))
    })
    app.post<Call>(`${one}/status`, ({ params, body }) =>
      invoiceView(place, markInvoice(deps, params.id, body, Date.now())),
    )
  }
}

/** Newest first, as the real server lists them. Of its filters, those that the store uses. */
function found(all: readonly Invoice[], query: Query): readonly Invoice[] {
  const orderIds = listOf(query['orderId'])
  const text = listOf(query['textSearch'])[0]
  const skip = numberOf('skip', query['skip']) ?? 0
  const take = numberOf('take', query['take']) ?? all.length
  const fitting = all.filter(
    ({ id, archived, metadata }) =>
      (!archived || flag(query['includeArchived'])) &&
      (text === undefined || text === id) &&
      (orderIds.length === 0 || orderIds.includes(String(metadata['orderId']))),
  )
  return fitting.toReversed().slice(skip, skip + take)
}

/** Routes of pull payments, from which anyone with the link may claim, and of their payouts. */
export function pullPaymentRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, place } = deps
  app.post(`${ofStore}/pull-payments`, ({ body }) =>
    pullPaymentView(place, createPullPayment(deps, body)),
  )
  app.get<Call>(`${ofStore}/pull-payments`, ({ query }) =>
    ledger
      .all('pull-payment')
      .filter(({ archived }) => !archived || flag(query['includeArchived']))
      .toReversed()
      .map((pull) => pullPaymentView(place, pull)),
  )
  const one = `${api}/pull-payments/:id`
  app.delete<Call>(one, ({ params }, reply) => {
    archivePullPayment(deps, params.id)
    return reply.send()
  })
  app.post<Call>(`${one}/payouts`, ({ params, body }) =>
    payoutView(claim(deps, params.id, body, Date.now())),
  )
  app.get<Call>(`${one}/payouts`, ({ params, query }) => {
    const pull = pullPaymentOf(deps, params.id)
    const isCancelledToo = flag(query['includeCancelled'])
    // The server leaves out payouts of archived pull payments in every call of its API.
    if (pull.archived) return []
    return ledger
      .all('payout')
      .filter(({ pullPaymentId }) => pullPaymentId === pull.id)
      .filter(({ state }) => isCancelledToo || state !== 'Cancelled')
      .toReversed()
      .map(payoutView)
  })
}

export function storeRoutes(app: FastifyInstance, deps: Deps): void {
  const { storeId } = deps.place
  const { apiKey, permissions, webhook, networkFeeMode } = deps.settings
  app.get(`${api}/api-keys/current`, () => ({
    ...{ apiKey, label: 'Sandbox' },
    permissions: permissions.map((permission) => `${permission}:${storeId}`),
  }))
  app.get(`${api}/server/info`, () => ({
    ...{ version: '2.4.1', fullySynched: true, syncStatus: [] },
    supportedPaymentMethods: symbols.map((symbol) => coins[symbol].methodId),
  }))
  app.get(ofStore, () => ({ id: storeId, name: 'Sandbox', networkFeeMode }))
  app.get<Call>(`${ofStore}/rates`, ({ query }) => ratesOf(listOf(query['currencyPair'])))
  app.get(`${ofStore}/payout-processors`, () => {
    const name = 'OnChainAutomatedPayoutSenderFactory'
    const view = { name, friendlyName: 'Automated payout sender', payoutMethods }
    return deps.ledger.settings().processor ? [view] : []
  })
  app.get(`${ofStore}/payment-methods`, () =>
    symbols.map((symbol) => ({ enabled: true, paymentMethodId: coins[symbol].methodId })),
  )
  app.get(`${ofStore}/webhooks`, () => {
    const authorizedEvents = { everything: true, specificEvents: [] }
    const url = webhook?.url
    const view = { id: webhookId, enabled: true, automaticRedelivery: true, url, authorizedEvents }
    return url === undefined ? [] : [view]
  })
}

function ratesOf(pairs: readonly string[]) {
  return pairs.map((currencyPair) => {
    const [left = '', right = ''] = currencyPair.toUpperCase().split('_')
    if (isTicker(left) && right === 'USD')
      return { currencyPair, errors: [], rate: coins[left].usd }
    if (left !== 'USD' || !isTicker(right)) {
      return { currencyPair, errors: [`No rate for ${currencyPair}`] }
    }
    const { decimals, usd } = coins[right]
    const units = unitsFor(worthOf(1n, 0, '1'), decimals, usd)
    return { currencyPair, errors: [], rate: formatDecimal(units, decimals) }
  })
}
