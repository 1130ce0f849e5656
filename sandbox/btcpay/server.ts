import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import { isSame, listenHere, openPart, type Part } from '../part.ts'
import { createTimers } from '../timers.ts'
import { type BtcpayOptions, type Deps, defaults } from './deps.ts'
import { ApiError, forbidden, invalid, problem } from './errors.ts'
import { schedule } from './invoices.ts'
import { openLedger } from './ledger.ts'
import { pageRoutes } from './pages.ts'
import { confirm, scheduleConfirmations } from './payments.ts'
import { resumePayouts } from './payouts.ts'
import { isGranted, permissionFor } from './permissions.ts'
import { invoiceRoutes, pullPaymentRoutes, storeRoutes } from './routes.ts'
import { sandboxRoutes } from './sandbox-routes.ts'
import { createWebhooks } from './webhooks.ts'

export type Btcpay = Part

/** Requests that need no key on the real server: anyone with the link of a pull payment may claim. */
const open = [/^GET \/api\/v1\/pull-payments\//, /^POST \/api\/v1\/pull-/]

function checkKey(request: FastifyRequest, { settings, place }: Deps): void {
  const { method, url, params } = request
  const call = `${method} ${url.split('?')[0]}`
  if (open.some((pattern) => pattern.test(call))) return
  if (!isSame(request.headers.authorization, `token ${settings.apiKey}`)) {
    const message = 'Authentication is required for accessing this endpoint'
    throw problem(401, 'unauthenticated', message)
  }
  const { storeId = place.storeId } = params as { readonly storeId?: string }
  const wanted = permissionFor(call)
  if (wanted === undefined) return
  const isHere = storeId === place.storeId
  if (!isHere || !isGranted(settings.permissions, wanted)) throw forbidden(wanted)
}

/** Counts the request as one of those that are lost; false if it is none. */
function isLost({ losing }: Deps, { method, url }: FastifyRequest): boolean {
  const at = losing.findIndex(({ only }) => `${method} ${url}`.includes(only))
  const fault = losing[at]
  if (fault === undefined) return false
  losing.splice(at, 1, ...(fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []))
  return true
}

/** Carries lost requests out, and cuts the connection instead of answering. */
function guard(app: FastifyInstance, deps: Deps): void {
  const lost = new WeakSet<FastifyRequest>()
  app.addHook('onRequest', async (request) => {
    if (!request.url.startsWith('/api/')) return
    if (isLost(deps, request)) lost.add(request)
    checkKey(request, deps)
  })
  app.addHook('onSend', async (request, _reply, payload) => {
    if (lost.has(request)) request.raw.socket.destroy()
    return payload
  })
}

function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler<FastifyError | ApiError>((error, _request, reply) => {
    if (error instanceof ApiError) return reply.code(error.status).send(error.body)
    const status = error.statusCode ?? 500
    if (status >= 500) console.error(error)
    return reply.code(status).send({ code: 'generic-error', message: error.message })
  })
  app.setNotFoundHandler((request, reply) => {
    const message = `There is no ${request.method} ${request.url.split('?')[0]} here.`
    return reply.code(404).send({ code: 'not-found', message })
  })
}

/** Resumes what a stop or a crash left unfinished. */
function resume(deps: Deps): void {
  const now = Date.now()
  for (const { id } of deps.ledger.all('invoice')) {
    const isDue = ({ confirmAt = Number.POSITIVE_INFINITY }) => confirmAt <= now
    const invoice = confirm(deps, id, now, isDue)
    schedule(deps, invoice, now, deps.settings.restartGraceMs)
    scheduleConfirmations(deps, invoice, now)
  }
  resumePayouts(deps, now)
}

/**
 * Starts the server on 127.0.0.1. It serves the part of BTCPay Server's Greenfield API that a store needs below
 * `/api/v1`, and routes that simulate buyers and chains below `/sandbox`.
 */
export async function startBtcpay(options: BtcpayOptions): Promise<Btcpay> {
  const settings = { ...defaults, ...options }
  const ledger = openLedger(settings.dataFile)
  const webhooks = createWebhooks(settings.webhook, settings.retryMs)
  const timers = createTimers()
  const place = { url: '', storeId: settings.storeId }
  const deps: Deps = { ledger, losing: [], webhooks, timers, settings, place }
  const app = openPart(ledger.instance, () => invalid('', 'The body is not JSON.'))
  guard(app, deps)
  answerErrors(app)
  for (const routes of [invoiceRoutes, pullPaymentRoutes, storeRoutes]) routes(app, deps)
  for (const routes of [sandboxRoutes, pageRoutes]) routes(app, deps)
  const part = await listenHere(app, settings.port, () => {
    timers.stop()
    webhooks.stop()
    ledger.close()
  })
  place.url = part.url
  resume(deps)
  return part
}
