import { timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import { answerOnlyHere } from '../local-only.ts'
import { createTimers } from '../timers.ts'
import { ApiError, invalid, notFound, unavailable } from './api-error.ts'
import { families, makeCatalog } from './catalog/catalog.ts'
import type { Deps } from './deps.ts'
import { createFaults, type Fault, type Faults } from './faults.ts'
import { openLedger } from './ledger.ts'
import { createManners } from './manners.ts'
import { defaults, type Settings, type SupplierOptions } from './options.ts'
import { schedule } from './purchases.ts'
import { latestRates } from './rates.ts'
import { scheduleRefund } from './refunds.ts'
import { accountRoutes, reportRoutes } from './routes/account.ts'
import { adminRoutes } from './routes/admin.ts'
import { brandRoutes } from './routes/brands.ts'
import { esimRoutes } from './routes/esim.ts'
import { offerRoutes } from './routes/offers.ts'
import { purchaseRoutes } from './routes/purchases.ts'
import { createWebhooks } from './webhooks.ts'

export interface Supplier {
  readonly url: string
  readonly port: number
  /** Ends every connection, timer and report; purchases go on after the next start. */
  stop(): Promise<void>
}

function needsKey(path: string): boolean {
  return path.startsWith('/v1/') || path.startsWith('/_admin/')
}

function hasKey(authorization: string | undefined, apiKey: string): boolean {
  const given = Buffer.from(authorization ?? '')
  const wanted = Buffer.from(`Bearer ${apiKey}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

/** Applies the current fault to a request. True if the connection was cut. */
async function misbehave(fault: Fault, request: FastifyRequest): Promise<boolean> {
  if (!('only' in fault && request.url.startsWith('/v1/') && request.url.includes(fault.only))) {
    return false
  }
  if (fault.mode === 'down') throw unavailable()
  if (fault.mode === 'slow') await wait(fault.delayMs)
  if (fault.mode === 'drop') request.raw.socket.destroy()
  return fault.mode === 'drop'
}

/** Faults apply before the key is checked, like an outage; the admin paths are exempt. */
function guard(app: FastifyInstance, apiKey: string, faults: Faults): void {
  app.addHook('onRequest', async (request, reply) => {
    if (await misbehave(faults.get(), request)) return reply.hijack()
    if (needsKey(request.url) && !hasKey(request.headers.authorization, apiKey)) {
      throw new ApiError(401, 'NOT_AUTHORIZED', 'The API key is missing or wrong.')
    }
  })
}

/** Accepts an empty body with a JSON content type, as for a refund. */
function readJson(app: FastifyInstance): void {
  const type = 'application/json'
  app.addContentTypeParser(type, { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch {
      done(invalid({ body: 'is not JSON' }))
    }
  })
}

function errorOf(error: FastifyError | ApiError): ApiError {
  if (error instanceof ApiError) return error
  if (error.statusCode && error.statusCode < 500) return invalid({ body: error.message })
  return new ApiError(500, 'INTERNAL_ERROR', 'Something went wrong.')
}

function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    const { status, errorCode, message, fields } = errorOf(error)
    if (status === 500) console.error(error)
    return reply.code(status).send({ errorCode, message, fields })
  })
  app.setNotFoundHandler((request) => {
    throw notFound(`${request.method} ${request.url}`)
  })
}

/** Routes that need no key: the health of the server, and exchange rates as Frankfurter serves them. */
function publicRoutes(app: FastifyInstance, deps: Deps): void {
  const offers = families.reduce((sum, family) => sum + deps.catalog.lists[family].length, 0)
  app.get('/healthz', () => ({ ok: true, offers, instance: deps.ledger.instance }))
  app.get('/rates/v1/latest', (request, reply) => {
    return latestRates(request.query, new Date()) ?? reply.code(404).send({ message: 'not found' })
  })
}

/** Resumes what a stop or a crash left unfinished. */
function resume(deps: Deps): void {
  for (const entry of deps.ledger.all()) {
    if (entry.type === 'purchase') schedule(deps, entry)
    else scheduleRefund(deps, entry)
  }
}

/**
 * Starts the supplier on 127.0.0.1. It serves Zendit's API below `/v1`, and routes for tests below `/_admin`. Money is
 * in US cents.
 */
export async function startSupplier(options: SupplierOptions): Promise<Supplier> {
  const settings: Settings = { ...defaults, ...options }
  const webhooks = createWebhooks(settings.webhook)
  const timers = createTimers()
  const deps: Deps = {
    apiKey: settings.apiKey,
    catalog: makeCatalog(settings.offers),
    changed: webhooks.notify,
    faults: createFaults(),
    ledger: openLedger(settings.dataFile, settings.balance),
    manners: createManners(),
    pace: settings,
    timers,
  }
  const app = fastify({ forceCloseConnections: true })
  answerOnlyHere(app)
  guard(app, settings.apiKey, deps.faults)
  readJson(app)
  answerErrors(app)
  for (const routes of [publicRoutes, offerRoutes, brandRoutes, purchaseRoutes, esimRoutes]) {
    routes(app, deps)
  }
  for (const routes of [accountRoutes, reportRoutes, adminRoutes]) routes(app, deps)
  await app.listen({ host: '127.0.0.1', port: settings.port })
  resume(deps)
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async stop() {
      timers.stop()
      webhooks.stop()
      await app.close()
      deps.ledger.close()
    },
  }
}
