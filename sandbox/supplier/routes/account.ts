import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApiError, notFound, parsed } from '../api-error.ts'
import type { Deps } from '../deps.ts'
import type { Stored } from '../ledger.ts'
import type { Transaction } from '../models.ts'
import { filtered, pageOf, pagingOf } from '../page.ts'

function transactionOf(entry: Stored): Transaction {
  if (entry.type === 'refund') return entry.record
  const { record } = entry
  return {
    amount: record.cost,
    createdAt: record.createdAt,
    currency: record.costCurrency,
    currencyDivisor: record.costCurrencyDivisor,
    ...(record.error ? { error: record.error } : {}),
    log: record.log,
    productType: record.productType,
    status: record.status,
    transactionId: record.transactionId,
    type: 'DEBIT',
    updatedAt: record.updatedAt,
  }
}

/** The answers of Zendit's test mode: the brand and network of each prefix. */
const lookups = [
  {
    prefix: '+5023',
    brand: 'CLARO',
    country: 'GT',
    mobileCountryCode: '704',
    mobileNetworkCode: '01',
  },
  {
    prefix: '+5025',
    brand: 'TIGO',
    country: 'GT',
    mobileCountryCode: '704',
    mobileNetworkCode: '02',
  },
  {
    prefix: '+15',
    brand: 'VERIZON',
    country: 'US',
    mobileCountryCode: '311',
    mobileNetworkCode: '480',
  },
  {
    prefix: '+16',
    brand: 'T-MOBILE',
    country: 'US',
    mobileCountryCode: '310',
    mobileNetworkCode: '260',
  },
] as const

function lookUp(given: string) {
  const msisdn = given.startsWith('+') ? given : `+${given}`
  const found = lookups.find(({ prefix }) => msisdn.startsWith(prefix))
  if (!found) throw notFound(`The number ${msisdn}`)
  const { prefix: _, ...network } = found
  return { ...network, msisdn }
}

const promos = ['CUBACEL', 'TIGO', 'CLARO'].map((brand, index) => ({
  brand: { brand, brandName: brand[0] + brand.slice(1).toLowerCase() },
  country: ['CU', 'HN', 'GT'][index],
  createdAt: '2025-06-01T00:00:00.000Z',
  description: [
    {
      description: 'Double airtime on every topup.',
      language: 'en',
      terms: 'Bonus lasts 30 days.',
    },
  ],
  endAt: `203${index}-01-01T00:00:00.000Z`,
  id: `promo-${brand.toLowerCase()}`,
  maxValue: 5000,
  minValue: 500,
  regions: [['Caribbean', 'Central America', 'Central America'][index]],
  startAt: '2025-06-01T00:00:00.000Z',
  status: 'active',
  updatedAt: '2025-06-01T00:00:00.000Z',
}))

type ById = { Params: { id: string } }

/** Routes of the balance, transactions, number look-up and promotions. */
export function accountRoutes(app: FastifyInstance, deps: Deps): void {
  app.get('/v1/balance', () => ({
    availableBalance: deps.ledger.wallet().available,
    currency: 'USD',
    currencyDivisor: 100,
  }))
  app.get('/v1/transactions', (request) => {
    const paging = pagingOf(request.query)
    const newestFirst = deps.ledger.all().map(transactionOf).reverse()
    return pageOf(filtered(newestFirst, request.query), paging)
  })
  app.get<ById>('/v1/transactions/:id', (request) => {
    const { id } = request.params
    const entry = deps.ledger.purchase(id) ?? deps.ledger.refund(id)
    if (!entry) throw notFound(`The transaction ${id}`)
    return transactionOf(entry)
  })
  app.get<{ Params: { msisdn: string } }>('/v1/tools/phonenumberlookup/:msisdn', (request) =>
    lookUp(request.params.msisdn),
  )
  app.get('/v1/promos', (request) => pageOf(promos, pagingOf(request.query)))
  app.get<ById>('/v1/promos/:id', (request) => {
    const promo = promos.find(({ id }) => id === request.params.id)
    if (!promo) throw notFound(`The promotion ${request.params.id}`)
    return promo
  })
}

const period = z.object({ startGte: z.iso.datetime(), endLt: z.iso.datetime() })

function csvOf(deps: Deps, { startGte, endLt }: z.infer<typeof period>): string {
  const rows = deps.ledger
    .all()
    .map(transactionOf)
    .filter(({ createdAt }) => createdAt >= startGte && createdAt < endLt)
    .map((row) => [
      row.transactionId,
      row.type,
      row.productType,
      row.status,
      row.amount,
      row.createdAt,
    ])
  return [['transactionId', 'type', 'productType', 'status', 'amount', 'createdAt'], ...rows]
    .map((row) => `${row.join(',')}\n`)
    .join('')
}

/** Routes of reports, which are requested and then fetched. Here they are ready at once, and lost at a restart. */
export function reportRoutes(app: FastifyInstance, deps: Deps): void {
  const periods = new Map<string, z.infer<typeof period>>()
  const find = (id: string) => {
    const found = periods.get(id)
    if (!found) throw notFound(`The report ${id}`)
    return found
  }
  app.post('/v1/reports/transactions', (request) => {
    const reportId = randomUUID()
    periods.set(reportId, parsed(period, request.body))
    return { reportId, status: 'REQUESTED' }
  })
  app.get<ById>('/v1/reports/transactions/:id', (request) => {
    const { id } = request.params
    const now = new Date().toISOString()
    const downloadUrl = `${request.protocol}://${request.host}/v1/reports/transactions/${id}/transactions.csv`
    return {
      createdAt: now,
      file: { downloadUrl, name: 'transactions.csv' },
      log: [{ message: 'Ready', recordedAt: now, status: 'READY' }],
      period: find(id),
      reportId: id,
      status: 'READY',
      updatedAt: now,
    }
  })
  app.get<{ Params: { id: string; file: string } }>(
    '/v1/reports/transactions/:id/:file',
    (request, reply) => {
      if (request.params.file !== 'transactions.csv') {
        throw new ApiError(404, 'NOT_FOUND', 'The report has no such file.')
      }
      return reply.type('text/csv').send(csvOf(deps, find(request.params.id)))
    },
  )
}
