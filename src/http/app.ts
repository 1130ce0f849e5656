import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { createAnswerCache } from './answer-cache.ts'
import { maxBody, takeJsonBodies } from './body.ts'
import { answerClientError } from './client-error.ts'
import type { AppDeps } from './deps.ts'
import { answerError, answerErrors, type ErrorEdge } from './error-edge.ts'
import { guardRequests } from './gate.ts'
import { limitRefusedProofs } from './proof-limit.ts'
import { routeReadings } from './readings.ts'
import { createRouteTable } from './route-table.ts'
import { shareTurns } from './turns.ts'

/**
 * Pages of every origin may ask (docs/contributors/decisions/017). Their requests bring no cookie: those of the
 * website follow links alone (`SameSite=Lax`), and no origin is allowed credentials.
 */
const crossOrigin = {
  origin: '*',
  methods: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  // Joined once: a list would be joined again for every answer.
  allowedHeaders: [
    'content-type',
    'payment-signature',
    'sign-in-with-x',
    'authorization',
    'idempotency-key',
    'prefer',
    'access-control-expose-headers',
    'accept-payment',
    'accept',
    'if-none-match',
    'mcp-protocol-version',
    'mcp-method',
    'mcp-name',
    'mcp-session-id',
    'last-event-id',
  ].join(', '),
  exposedHeaders: [
    'PAYMENT-REQUIRED',
    'PAYMENT-RESPONSE',
    'EXTENSION-RESPONSES',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'Idempotent-Replayed',
    'Location',
    'ETag',
    'X-Request-Id',
    'Link',
    'Mcp-Session-Id',
  ].join(', '),
  strictPreflight: false,
  maxAge: 86_400,
}

/**
 * The HTTP server with the whole reading side. Further groups of routes are added to what it gives,
 * before it listens; they get the limits, the gate and the error edge by being here.
 *
 * A route says what it counts against in `config.limit`, and with `config.charges` that its errors
 * must say whether money moved.
 */
export function createApp(deps: AppDeps): FastifyInstance {
  const app = Fastify({
    ...limitsOfRequests,
    loggerInstance: deps.log,
    // Requests over open connections are still served while the store closes.
    return503OnClosing: false,
    trustProxy: trustOf(deps),
    genReqId: () => randomUUID(),
    logController: new LogController({ disableRequestLogging: true }),
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      reply.header('access-control-allow-origin', crossOrigin.origin)
      answerError(edge, error, { request, reply })
    },
  })
  // Node would answer 417 by itself, past every limit and header of ours. Nobody has to (RFC 9110).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  )
  app.decorateRequest('charge', undefined)
  app.decorateRequest('heldUp', undefined)
  app.decorateRequest('orderId', undefined)
  app.decorateRequest('isTurnedAway', false)
  const routes = createRouteTable(app)
  const edge: ErrorEdge = { siteUrl: deps.site.url, routes, pageFor: deps.pageFor }
  takeJsonBodies(app)
  answerErrors(app, edge)
  letGoWhenClosing(app)
  if (deps.trustProxy === false) warnOfProxy(app)
  // The gate stands behind the cross-origin headers, so that refusals carry them too.
  app.register(cors, crossOrigin).after(() => {
    shareTurns(app, deps.limits, deps.turns)
    guardRequests(app, { limits: deps.limits, routes })
    limitRefusedProofs(app, deps.limits)
  })
  const answers = createAnswerCache(deps, { maxBytes: deps.maxAnswerBytes })
  routeReadings(app, { ...deps, answers })
  return app
}

/**
 * Tells once of a request that came through a proxy, where none is named: behind one that is not, all
 * clients count as one.
 */
function warnOfProxy(app: FastifyInstance): void {
  let isTold = false
  app.addHook('onRequest', (request, _, done) => {
    if (!isTold && request.headers['x-forwarded-for'] !== undefined) {
      isTold = true
      const message = 'a request came with X-Forwarded-For, and TRUSTED_PROXIES names no proxy'
      app.log.warn({ from: request.ip }, message)
    }
    done()
  })
}

/**
 * A connection that is answered while the store closes would be kept open for the next request, and
 * the store would wait for its end.
 */
function letGoWhenClosing(app: FastifyInstance): void {
  let isClosing = false
  app.addHook('preClose', (done) => {
    isClosing = true
    done()
  })
  app.addHook('onSend', (_, reply, payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done(null, payload)
  })
}

/**
 * Stops taking requests and answers those that are there. A connection that was busy when the closing
 * began stays open when it is idle again, for its whole keep-alive; so idle ones are closed again and again.
 */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close().finally(() => clearInterval(idle))
}

/** What a request may take of the store, in bytes and milliseconds. */
const limitsOfRequests = {
  bodyLimit: maxBody,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
  maxRequestsPerSocket: 1000,
  // Node looks for late requests only so often, and until then none of the above holds.
  http: { headersTimeout: 10_000, maxHeaderSize: 16 * 1024, connectionsCheckingInterval: 2_000 },
  routerOptions: {
    ignoreTrailingSlash: true,
    maxParamLength: 200,
    // Each route reads its raw query strictly; a lenient reading beside it would only mislead.
    querystringParser: () => ({}),
  },
}

/** A count of hops trusts that many proxies nearest to the store, and nobody further away. */
function trustOf({ trustProxy }: AppDeps) {
  if (typeof trustProxy === 'number') return (_: string, hop: number) => hop < trustProxy
  return trustProxy === false ? false : [...trustProxy]
}
