import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import cors from '@fastify/cors'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { ReadDeps } from '../api/operation.ts'
import { isCheckoutId, isOrderId } from '../lib/ids.ts'
import { Refusal } from '../lib/refusal.ts'
import { createAnswerCache, routeReadings } from './caching.ts'
import { maxBody, takeJsonBodies } from './call.ts'
import { answerClientError, answerError, type ErrorEdge, type PageFor } from './error-edge.ts'
import {
  createRouteTable,
  guardRequests,
  type LimitName,
  type Limits,
  limitAtOnce,
  limitRefusedProofs,
} from './gate.ts'
import { isOperator, type OperatorAccess } from './operator.ts'

export interface AppDeps extends ReadDeps {
  readonly log: FastifyBaseLogger
  /** The proxies that may name the client: a number of hops, or addresses. Never everyone, because clients can lie. */
  readonly trustProxy: number | readonly string[] | false
  readonly limits: Limits
  /** The maximum size of the cache of answers, in bytes; 0 disables it. Absent: its default. */
  readonly maxAnswerBytes?: number
  /** Makes the error pages for requests outside the routes of the pages. Absent: there is no website. */
  readonly pageFor?: PageFor
}

declare module 'fastify' {
  interface FastifyContextConfig {
    limit?: LimitName
    /** Whether errors of the route say in `charged` whether money moved. */
    charges?: true
    /** Whether any error of ours says that orders cannot be read just now. */
    readsOrders?: true
    /** Whether a request may carry a payment elsewhere than in a header, such as in a body that is not read yet. */
    mayBringPayment?: (request: FastifyRequest) => boolean
    /** Whether a request above a limit is still admitted to find the order that it has already paid for. */
    findsOrders?: boolean
    /** Probes are never refused: a client that shares the balancer's address could make a healthy process look dead. */
    isProbe?: boolean
  }

  interface FastifyRequest {
    /** Whether its payment or sign-in counts as refused, whatever the status of its answer. */
    provesNothing: boolean
    /** Set if the request is above a limit and may only find the order that it has already paid for. */
    heldUp: Refusal | undefined
    /** The order that it bought or found again, if its path does not name it. */
    orderId: string | undefined
  }
}

/**
 * Pages of every origin may call the API (docs/contributors/decisions/017). Their requests carry no cookies: no
 * origin is allowed credentials, and those of the website are `SameSite=Lax`.
 */
const crossOrigin = {
  origin: '*',
  methods: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  // Any request header is allowed. Joined here, because the plugin would join a list again for every answer.
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

/**
 * The HTTP server with every route that only reads. Routes that are added to it get its limits, its gate and its
 * errors.
 */
export function createApp(deps: AppDeps): FastifyInstance {
  const { limits, trustProxy } = deps
  const app = Fastify({
    ...limitsOfRequests,
    loggerInstance: deps.log,
    // While the store closes, requests on open connections are still served.
    return503OnClosing: false,
    // A number of hops trusts that many proxies nearest to the store, and none beyond.
    trustProxy:
      typeof trustProxy === 'number'
        ? (_: string, hop: number) => hop < trustProxy
        : trustProxy && [...trustProxy],
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
  if (trustProxy === false) warnOfProxy(app)
  // The gate runs after CORS, so that refusals carry the CORS headers too.
  app.register(cors, crossOrigin).after(() => {
    limitAtOnce(app, limits)
    guardRequests(app, limits, routes)
    limitRefusedProofs(app, limits)
  })
  routeReadings(app, { ...deps, answers: createAnswerCache(deps, deps.maxAnswerBytes) })
  return app
}

/** Warns once of a proxy that is not configured: behind it, the limits count all clients as one. */
function warnOfProxy(app: FastifyInstance): void {
  let hasWarned = false
  app.addHook('onRequest', (request, _, done) => {
    if (!hasWarned && request.headers['x-forwarded-for'] !== undefined) {
      hasWarned = true
      const message = 'a request came with X-Forwarded-For, and TRUSTED_PROXIES names no proxy'
      app.log.warn({ from: request.ip }, message)
    }
    done()
  })
}

/** While the store closes, a connection that is kept open for another request would delay it. */
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
 * Answers the open requests. A connection that was busy when closing began would stay open for its whole keep-alive
 * once it is idle, so idle connections are closed repeatedly.
 */
export async function closeApp(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50)
  await app.close().finally(() => clearInterval(idle))
}

const scope = new AsyncLocalStorage<string>()

/** The id of the request that the current work belongs to; undefined in work that no purchase and no POST started. */
export const currentRequest = (): string | undefined => scope.getStore()

/**
 * Logs one line for each request, with the pattern of its route and never its URL: queries, bodies and headers carry
 * phone numbers, tokens and signatures. Events during a POST or a purchase carry the id of the request as well.
 */
export function logAccess(app: FastifyInstance): void {
  // Not before the body is read: the events of reading it run in the scope of the connection.
  app.addHook('preHandler', (request, _, done) => {
    if (request.method === 'POST' || request.routeOptions.config?.findsOrders) {
      scope.run(request.id, done)
    } else done()
  })
  // A line has only these fields, none of which needs redaction. Redaction would double the cost of a line.
  const log = app.log.child({}, { redact: [] })
  app.addHook('onResponse', (request, { statusCode: status, elapsedTime }, done) => {
    if (isBounded(request, status)) {
      const { id: reqId, method, routeOptions } = request
      const ms = Math.round(elapsedTime * 10) / 10
      const line = { reqId, method, route: routeOptions.url, status, ...recordIn(request), ms }
      log.info(line, 'request')
    }
    done()
  })
}

/** Whether a client can cause only so many such lines in a minute; a flood of others would fill the disk. */
function isBounded({ method, routeOptions }: FastifyRequest, status: number): boolean {
  if (routeOptions.config?.limit !== undefined) return status !== 429
  // Accepted webhooks: nobody but a supplier or the processor can send one.
  return method === 'POST' && status < 400
}

/** The order that the request bought, found or named, and the checkout that it named. */
function recordIn({ orderId, params }: FastifyRequest): { order?: string; checkout?: string } {
  const named = Object.values(params ?? {}).map(String)
  const order = orderId ?? named.find(isOrderId)
  const checkout = named.find(isCheckoutId)
  return { ...(order && { order }), ...(checkout && { checkout }) }
}

export interface MetricsDeps extends OperatorAccess {
  readonly page: () => Promise<{ readonly contentType: string; readonly body: string }>
  readonly answered: (request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }) => void
}

export function routeMetrics(app: FastifyInstance, deps: MetricsDeps): void {
  app.addHook(
    'onResponse',
    ({ method, routeOptions }, { statusCode: status, elapsedTime }, done) => {
      deps.answered({
        method,
        route: routeOptions.url ?? 'none',
        status,
        seconds: elapsedTime / 1_000,
      })
      done()
    },
  )

  app.get('/metrics', async (request, reply) => {
    if (!isOperator(request, deps)) {
      throw new Refusal('not_found', 'There is nothing at this address.')
    }
    const { contentType, body } = await deps.page()
    return reply.header('cache-control', 'no-store').type(contentType).send(body)
  })
}
