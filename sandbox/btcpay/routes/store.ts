import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { formatDecimal, unitsFor, worthOf } from '../amounts.ts'
import { coinOfMethod, coins, isTicker, symbols } from '../coins.ts'
import type { Deps } from '../deps.ts'
import { parsed, problem } from '../errors.ts'
import { payoutMethods } from '../pull-payments.ts'
import { listOf, type Query } from './query.ts'

const processor = 'OnChainAutomatedPayoutSenderFactory'

/** Routes about the store, the API key and the server. */
export function storeRoutes(app: FastifyInstance, deps: Deps): void {
  const { storeId } = deps.place
  app.get('/api/v1/health', () => ({ synchronized: true }))
  app.get('/api/v1/server/info', () => ({
    version: '2.4.0',
    supportedPaymentMethods: symbols.map((symbol) => coins[symbol].methodId),
    fullySynched: true,
    syncStatus: [],
  }))
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
  app.get('/api/v1/payout-processors', () => [processorView()])
  app.get('/api/v1/stores/:storeId/payout-processors', () =>
    deps.ledger.settings().processor ? [processorView()] : [],
  )
  methodRoutes(app, deps)
}

function processorView() {
  return { name: processor, friendlyName: 'Automated payout sender', payoutMethods }
}

function methodRoutes(app: FastifyInstance, deps: Deps): void {
  const base = '/api/v1/stores/:storeId/payment-methods'
  const view = (paymentMethodId: string) => ({
    enabled: !deps.ledger.settings().disabled.includes(paymentMethodId),
    paymentMethodId,
  })
  const known = (method: string) => {
    if (!coinOfMethod(method)) {
      throw problem(404, 'paymentmethod-not-found', 'The payment method was not found')
    }
    return method
  }
  type Call = { Params: { method: string }; Querystring: Query }
  app.get<Call>(base, ({ query }) => {
    const wanted = listOf(query['onlyEnabled'])[0]
    return symbols
      .map((symbol) => view(coins[symbol].methodId))
      .filter(({ enabled }) => wanted === undefined || String(enabled) === wanted)
  })
  app.get<Call>(`${base}/:method`, ({ params }) => view(known(params.method)))
  app.put<Call>(`${base}/:method`, ({ params, body }) => {
    const schema = z.object({ enabled: z.boolean().nullish() })
    const { enabled } = parsed(schema, body ?? {})
    const method = known(params.method)
    const settings = deps.ledger.settings()
    const others = settings.disabled.filter((one) => one !== method)
    if (typeof enabled === 'boolean') {
      deps.ledger.commit({ ...settings, disabled: enabled ? others : [...others, method] })
    }
    return view(method)
  })
}

/**
 * The rates of the requested pairs, with an error for each unknown one; of all coins in dollars if none is requested.
 */
function ratesOf(deps: Deps, asked: readonly string[]) {
  const pairs = asked.length > 0 ? asked : symbols.map((symbol) => `${symbol}_USD`)
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
  if (left === 'USD' && isTicker(right)) {
    const { decimals } = coins[right]
    return formatDecimal(unitsFor(worthOf(1n, 0, '1'), decimals, rates[right]), decimals)
  }
  return undefined
}
