import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { createAnswerCache } from './answer-cache.ts'
import { limitAtOnce } from './at-once.ts'
import { maxBody, takeJsonBodies } from './body.ts'
import type { AppDeps } from './deps.ts'
import { answerClientError, answerError, type ErrorEdge } from './error-edge.ts'
import { guardRequests, limitRefusedProofs } from './gate.ts'
import { routeReadings } from './readings.ts'
import { createRouteTable } from './route-table.ts'

/**
 * Pages of every origin may call the API (docs/contributors/decisions/017). Their requests carry no cookies:
 * those of the website are sent cross-site only with navigations (`SameSite=Lax`), and no origin is allowed
 * credentials.
 */
const crossOrigin = {
  origin: '*',
  methods: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  // Joined here, because the plugin would join a list again for every answer.
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
 * The HTTP server with every route that only reads. Other groups of routes are added to the returned server
 * before it listens, and get its limits, its gate and its error handling.
 *
 * A route names its rate limit in `config.limit`. With `config.charges`, its errors say whether money moved.
 */
export function createApp(deps: AppDeps): FastifyInstance {
  const app = Fastify({
    ...limitsOfRequests,
    loggerInstance: deps.log,
    // While the store closes, requests on open connections are still served.
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
  // Node would answer 417 itself, without our limits and headers. RFC 9110 lets a server ignore the expectation.
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  )
  app.decorateRequest('provesNothing', false)
  app.decorateRequest('heldUp', undefined)
  app.decorateRequest('orderId', undefined)
  const routes = createRouteTable(app)
  const edge: ErrorEdge = { siteUrl: deps.site.url, routes, pageFor: deps.pageFor }
  takeJsonBodies(app)
  app.setErrorHandler((error, request, reply) => answerError(edge, error, { request, reply }))
  letGoWhenClosing(app)
  if (deps.trustProxy === false) warnOfProxy(app)
  // The gate runs after CORS, so that refusals carry the CORS headers too.
  app.register(cors, crossOrigin).after(() => {
    limitAtOnce(app, deps.limits)
    guardRequests(app, { limits: deps.limits, routes })
    limitRefusedProofs(app, deps.limits)
  })
  const answers = createAnswerCache(deps, deps.maxAnswerBytes)
  routeReadings(app, { ...deps, answers })
  return app
}

/**
 * Warns once about a request that came through a proxy although none is configured: behind an unnamed proxy,
 * the limits count all clients as one.
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
 * Closes each connection after its answer while the store closes. Otherwise it would be kept open for another
 * request, and closing would wait for it.
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
 * Accepts no more connections and answers the open requests. A connection that was busy when closing began
 * would stay open for its whole keep-alive once it is idle, so idle connections are closed repeatedly.
 */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close().finally(() => clearInterval(idle))
}

/** The limits of one request or connection, in bytes and milliseconds. */
const limitsOfRequests = {
  bodyLimit: maxBody,
  requestTimeout: 30_000,
  keepAliveTimeout: 72_000,
  // An answer that its client has not read for this long is cut off. No request is worked on for as long.
  connectionTimeout: 120_000,
  maxRequestsPerSocket: 1000,
  http: {
    headersTimeout: 10_000,
    maxHeaderSize: 16 * 1024,
    // Node enforces the timeouts only at this interval.
    connectionsCheckingInterval: 2_000,
    // Node would answer without a body. The gate refuses such requests.
    requireHostHeader: false,
  },
  routerOptions: {
    ignoreTrailingSlash: true,
    maxParamLength: 200,
    // Each route parses its raw query strictly, so Fastify's lenient parser is not used.
    querystringParser: () => ({}),
  },
}

/** A number of hops trusts that many proxies nearest to the store, and none beyond. */
function trustOf({ trustProxy }: AppDeps) {
  if (typeof trustProxy === 'number') return (_: string, hop: number) => hop < trustProxy
  return trustProxy === false ? false : [...trustProxy]
}
