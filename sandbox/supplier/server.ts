import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import * as z from 'zod'
import { isSame, listenHere, openPart, type Part } from '../part.ts'
import { createTimers } from '../timers.ts'
import { brandRoutes } from './brands.ts'
import { families, makeCatalog } from './catalog/catalog.ts'
import {
  ApiError,
  type Fault,
  faultSchema,
  invalid,
  notFound,
  parsed,
  unavailable,
} from './faults.ts'
import type { Family } from './models.ts'
import { inputs, type PurchaseInput } from './purchase-input.ts'
import {
  accept,
  move,
  openLedger,
  type PurchaseDeps,
  plansOf,
  refund,
  refundOf,
  type StoredPurchase,
  schedule,
  scheduleRefund,
} from './purchases.ts'
import { latestRates } from './rates.ts'
import { createWebhooks, type WebhookOptions } from './webhooks.ts'

export type Supplier = Part

export interface SupplierOptions {
  readonly port?: number
  readonly apiKey: string
  /** An append-only file, so that purchases and the wallet survive a restart. Absent: memory only. */
  readonly dataFile?: string
  /** The number of offers, including test and flawed ones. Default 12,000. */
  readonly offers?: number
  /** The duration of a step. A purchase takes four steps, `SLOW` 100. Default 250 ms. */
  readonly stepMs?: number | undefined
  /** Seconds after which `LATE` is delivered. Default 660: past the deadline of the store. */
  readonly lateSeconds?: number
  /** The opening balance of the wallet in US cents. Default 1,000,000 USD. */
  readonly balance?: number
  readonly webhook?: WebhookOptions
}

/** The dependencies of the routes. `fault` changes at run time. */
interface Deps extends PurchaseDeps {
  readonly apiKey: string
  readonly faults: { now: Fault }
}

type ById = { Params: { id: string } }

/**
 * Starts the supplier on 127.0.0.1. It serves what the store uses of Zendit's API below `/v1`, and routes for tests
 * below `/_admin`. Money is in US cents.
 */
export function startSupplier(options: SupplierOptions): Promise<Supplier> {
  const { port = 0, offers = 12_000, stepMs = 250, lateSeconds = 660, apiKey } = options
  const webhooks = createWebhooks(options.webhook)
  const deps: Deps = {
    apiKey,
    catalog: makeCatalog(offers),
    changed: webhooks.notify,
    faults: { now: { mode: 'ok' } },
    ledger: openLedger(options.dataFile, options.balance ?? 100_000_000),
    pace: { stepMs, lateSeconds },
    timers: createTimers(),
  }
  const app = openPart(deps.ledger.instance, () => invalid({ body: 'is not JSON' }))
  guard(app, deps)
  answerErrors(app)
  app.get('/rates/v1/latest', (request, reply) => {
    return latestRates(request.query, new Date()) ?? reply.code(404).send({ message: 'not found' })
  })
  brandRoutes(app, deps.catalog.brands)
  for (const routes of [offerRoutes, purchaseRoutes, esimRoutes, adminRoutes]) routes(app, deps)
  // Resumes what a stop or a crash left unfinished.
  for (const entry of deps.ledger.all()) {
    if (entry.type === 'purchase') schedule(deps, entry)
    else scheduleRefund(deps, entry)
  }
  return listenHere(app, port, () => {
    deps.timers.stop()
    webhooks.stop()
    deps.ledger.close()
  })
}

/** Faults apply before the key is checked, like an outage; the admin paths are exempt. */
function guard(app: FastifyInstance, { apiKey, faults }: Deps): void {
  app.addHook('onRequest', async (request, reply) => {
    if (await misbehave(faults.now, request)) return reply.hijack()
    const isOpen = !/^\/(v1|_admin)\//.test(request.url)
    if (isOpen || isSame(request.headers.authorization, `Bearer ${apiKey}`)) return
    throw new ApiError(401, 'NOT_AUTHORIZED', 'The API key is missing or wrong.')
  })
}

async function misbehave(fault: Fault, request: FastifyRequest): Promise<boolean> {
  if (!('only' in fault && request.url.startsWith('/v1/') && request.url.includes(fault.only))) {
    return false
  }
  if (fault.mode === 'down') throw unavailable()
  if (fault.mode === 'slow') await wait(fault.delayMs)
  if (fault.mode === 'drop') request.raw.socket.destroy()
  return fault.mode === 'drop'
}

function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError | ApiError>((error, _request, reply) => {
    if (error instanceof ApiError) {
      const { status, errorCode, message, fields } = error
      return reply.code(status).send({ errorCode, message, fields })
    }
    const isTheirs = error.statusCode !== undefined && error.statusCode < 500
    if (isTheirs) throw invalid({ body: error.message })
    console.error(error)
    const body = { errorCode: 'INTERNAL_ERROR', message: 'Something went wrong.', fields: {} }
    return reply.code(500).send(body)
  })
  app.setNotFoundHandler(({ method, url }) => {
    throw notFound(`${method} ${url}`)
  })
}

function whole(min: number, max: number) {
  const text = `is required and must be a whole number from ${min} to ${max}`
  return z
    .string(text)
    .regex(/^\d{1,15}$/, text)
    .transform(Number)
    .refine((value) => value >= min && value <= max, text)
}

const paging = z.object({ _limit: whole(1, 1024), _offset: whole(0, Number.MAX_SAFE_INTEGER) })

function pageOf<T>(all: readonly T[], query: unknown) {
  const { _limit: limit, _offset: offset } = parsed(paging, query)
  return { limit, list: all.slice(offset, offset + limit), offset, total: all.length }
}

function offerRoutes(app: FastifyInstance, { catalog }: Deps): void {
  for (const family of families) {
    app.get(`/v1/${family}/offers`, ({ query }) => {
      return pageOf(catalog.lists[family], query)
    })
  }
}

function inputOf(family: Family, body: unknown): PurchaseInput {
  switch (family) {
    case 'vouchers':
      return { family, ...parsed(inputs.vouchers, body) }
    case 'topups':
      return { family, ...parsed(inputs.topups, body) }
    case 'esim':
      return { family, ...parsed(inputs.esim, body) }
    default:
      return family satisfies never
  }
}

/** Zendit takes further filters and operators; the store uses this one alone. */
const filters = z.object({
  createdAt: z
    .templateLiteral(['lt', z.iso.datetime()], 'must be lt and an RFC 3339 UTC time')
    .optional(),
})

function purchaseRoutes(app: FastifyInstance, deps: Deps): void {
  app.get('/v1/balance', () => ({
    availableBalance: deps.ledger.wallet().available,
    currency: 'USD',
    currencyDivisor: 100,
  }))
  for (const family of families) {
    const path = `/v1/${family}/purchases`
    app.post(path, ({ body }) => {
      const { id, record } = accept(deps, inputOf(family, body), new Date())
      return { status: record.status, transactionId: id }
    })
    app.get(path, ({ query }) => {
      const records = deps.ledger
        .all()
        .flatMap((entry) =>
          entry.type === 'purchase' && entry.family === family ? entry.record : [],
        )
      const { createdAt } = parsed(filters, query)
      const before = createdAt === undefined ? Infinity : Date.parse(createdAt.slice(2))
      const earlier = records.filter((record) => Date.parse(record.createdAt) < before)
      return pageOf(earlier.reverse(), query)
    })
    app.get<ById>(`${path}/:id`, ({ params }) => {
      const stored = deps.ledger.purchase(params.id)
      if (stored?.family !== family) throw notFound(`The transaction ${params.id}`)
      return stored.record
    })
  }
}

/** Routes that only eSIMs have: refunds, and the plans on a card, of which the store asks whether there are any. */
function esimRoutes(app: FastifyInstance, deps: Deps): void {
  app.post<ById>('/v1/esim/purchases/:id/refund', ({ params }) => {
    return { status: refund(deps, params.id).record.status }
  })
  app.get<ById>('/v1/esim/purchases/:id/refund', ({ params }) => {
    const found = refundOf(deps.ledger, params.id)
    if (!found) throw notFound(`A refund of ${params.id}`)
    return found.record
  })
  app.get<ById>('/v1/esim/:id/plans', ({ params: { id: iccid } }) => {
    const all = plansOf(deps.ledger, iccid)
    if (all.length === 0) throw notFound(`The eSIM ${iccid}`)
    // Refunded ones are gone.
    const left = all.filter((plan) => plan.refund?.status !== 'DONE')
    const list = left.map(({ offerId }) => ({ iccid, offerId }))
    return { firstInstalledAt: all[0]?.updatedAt ?? '', list, total: list.length }
  })
}

/** The secrets that a purchase delivered, which must never appear in a log. */
function secretsOf({ record }: StoredPurchase): readonly string[] {
  const secret = record.receipt?.epin ?? record.confirmation?.activationCode
  return secret === undefined ? [] : [secret]
}

function audited(stored: StoredPurchase) {
  const { id, family, held, charged, refunded, record } = stored
  const { offerId, status, cost, log } = record
  return {
    ...{ transactionId: id, family, offerId, status, cost, held, charged, refunded },
    deliveries: log.filter((item) => item.status === 'DONE').length,
    secrets: secretsOf(stored),
  }
}

const balanceChange = z.object({ availableBalance: z.int().min(0) })
const offerChange = z.object({ offerId: z.string(), price: z.int().positive() })
const verdict = z.object({ transactionId: z.string(), status: z.enum(['DONE', 'FAILED']) })

/**
 * Only in the sandbox, with the same key: routes that set the wallet, faults, prices and the end of purchases,
 * and an audit of all purchases. Amounts are in US cents.
 */
function adminRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, faults } = deps
  app.post('/_admin/balance', ({ body }) => {
    const { availableBalance } = parsed(balanceChange, body)
    ledger.commit([], { ...ledger.wallet(), available: availableBalance })
    return ledger.wallet()
  })
  app.post('/_admin/faults', ({ body }) => {
    faults.now = parsed(faultSchema, body)
    return faults.now
  })
  app.post('/_admin/offers', ({ body }) => {
    const { offerId, price } = parsed(offerChange, body)
    const offer = deps.catalog.reprice(offerId, price)
    if (!offer) throw notFound(`The offer ${offerId}`)
    return offer
  })
  app.post('/_admin/purchases', ({ body }) => {
    const { transactionId, status } = parsed(verdict, body)
    move(deps, transactionId, status)
    const stored = ledger.purchase(transactionId)
    if (!stored) throw notFound(`The transaction ${transactionId}`)
    return audited(stored)
  })
  app.get('/_admin/ledger', () => {
    const all = ledger.all()
    const purchases = all.filter((entry) => entry.type === 'purchase').map(audited)
    const refunds = all.filter((entry) => entry.type === 'refund').map((entry) => entry.record)
    return { wallet: ledger.wallet(), purchases, refunds }
  })
}
