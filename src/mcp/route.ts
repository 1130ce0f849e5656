import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mcpPath } from '../api/operation.ts'
import {
  clientKeyOf,
  countRefused,
  type LimitName,
  type Limits,
  lookAtRefused,
  takeFrom,
} from '../http/gate.ts'
import { isOwnName } from '../http/operator.ts'
import { Refusal } from '../lib/refusal.ts'
import { bringsPayment } from './arguments.ts'
import { answerCall, type ToolDeps, type Visit } from './call.ts'
import { hostSettingsIn, sessionFor } from './host.ts'
import { createServer } from './server.ts'

interface McpDeps extends ToolDeps {
  readonly limits: Limits
  /** Whether only this machine can reach the store. It then refuses other host names and origins. */
  readonly isLocal: boolean
}

/**
 * The MCP server, over streamable HTTP without sessions: for clients of 2026-07-28, and for those of 2025-11-25,
 * which begin with a handshake.
 *
 * Every request counts as reading before its body is read. The tool is named in the body, so the limit of the same
 * call over HTTP is counted afterwards. Pages of any origin may call, as over HTTP: the API uses no cookies, and the
 * network position of a caller gives it no rights. A store that only its own machine can reach answers only host
 * names and pages of that machine.
 */
export function routeMcp(app: FastifyInstance, deps: McpDeps): void {
  app.post(
    mcpPath,
    {
      config: { limit: 'reading', charges: true, findsOrders: true, mayBringPayment },
      onRequest: deps.isLocal ? [refuseForeign] : [],
    },
    async (request, reply) => {
      // It was admitted because its body could contain a payment, and it does not.
      if (request.heldUp && !mayBringPayment(request)) throw request.heldUp
      if (Array.isArray(request.body)) {
        throw new Refusal(
          'invalid_body',
          'Send one JSON-RPC message a request, not a list of them.',
        )
      }
      const visit = visitOf(deps.limits, request, reply)
      let fault: Error | undefined
      const { fetch } = createMcpHandler(
        () =>
          createServer({
            site: deps.reading.site,
            session: sessionIn(request),
            call: (tool, args, meta, person) =>
              answerCall(deps, visit, tool, { args, meta, person }),
          }),
        {
          // A subscription is acknowledged for nothing and ends at once: tools and resources never change.
          maxSubscriptions: 1,
          keepAliveMs: 0,
          onerror: (error) => {
            fault = error
          },
        },
      )
      const response = await fetch(webRequest(request), { parsedBody: request.body })
      // Errors of the library are faults of the caller, unless their status says otherwise.
      if (response.status >= 500) request.log.error({ err: fault }, 'unexpected error')
      const session = sessionFor(request.body)
      if (session !== undefined) reply.header(sessionHeader, session)
      return send(reply, response, takesStream(request))
    },
  )
}

async function refuseForeign(
  { headers: { host = '', origin } }: FastifyRequest,
  reply: FastifyReply,
) {
  const isOwnPage = origin === undefined || isOwnName(origin.replace(/^https?:\/\//, ''))
  if (isOwnName(host) && isOwnPage) return
  const message =
    'This store answers its own machine only. Call it as localhost or 127.0.0.1, from a program or a page of this machine; or set PUBLIC_URL to the address that others call it by.'
  reply.code(403).header('cache-control', 'no-store')
  return reply.send({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null })
}

function visitOf(limits: Limits, request: FastifyRequest, reply: FastifyReply): Visit {
  return {
    requestId: request.id,
    client: clientKeyOf(request.ip),
    log: request.log,
    heldUp: request.heldUp,
    host: hostSettingsIn(request.raw.url ?? ''),
    noteOrder(order) {
      request.orderId = order
    },
    async count(name: LimitName) {
      // The request itself has counted as reading.
      if (name === 'reading') return undefined
      return takeFrom(limits[name], request, reply)
    },
    mayProve: () => lookAtRefused(limits.refused, request, reply),
    provedNothing: () => countRefused(limits.refused, request),
  }
}

const sessionHeader = 'mcp-session-id'

function sessionIn({ headers }: FastifyRequest): string | undefined {
  const session = headers[sessionHeader]
  return typeof session === 'string' ? session : undefined
}

/** A body that has not been read, or cannot be, may contain a payment. */
function mayBringPayment({ body }: FastifyRequest): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return true
  const { params } = body as { params?: { _meta?: unknown } | null }
  const meta = params?._meta
  return typeof meta === 'object' && meta !== null && bringsPayment({ meta: { ...meta } })
}

const streamType = 'text/event-stream'
const anyJson = /(^|[,\s])(\*\/\*|application\/(json|\*))/i

function takesStream({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.toLowerCase().includes(streamType)
}

/**
 * The request for the MCP library: the headers only, because the body is already parsed. The library refuses clients
 * that do not accept both of its media types, so `accept` is completed.
 */
function webRequest({ headers: { accept = '*/*', ...headers } }: FastifyRequest): Request {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  const taken = anyJson.test(accept) ? `application/json, ${streamType}` : accept
  return new Request(`http://localhost${mcpPath}`, {
    method: 'POST',
    headers: [...entries, ['accept', taken]],
  })
}

async function send(
  reply: FastifyReply,
  response: Response,
  isStreamTaken: boolean,
): Promise<FastifyReply> {
  const type = response.headers.get('content-type')
  reply.code(response.status).header('cache-control', 'no-store')
  if (type === null) return reply.send()
  const text = await response.text()
  // The answer comes last, behind the notifications about it.
  const answer = [...text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1]
  if (isStreamTaken || !type.startsWith(streamType) || answer === undefined) {
    return reply.type(type).send(text)
  }
  return reply.type('application/json').send(answer)
}
