import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mcpPath } from '../api/paths.ts'
import { clientKeyOf } from '../http/client-key.ts'
import { aboveLimit } from '../http/gate.ts'
import { countRefused, lookAtRefused } from '../http/proof-limit.ts'
import type { LimitName, Limits } from '../http/rate-limit.ts'
import { Refusal } from '../lib/refusal.ts'
import { answerCall, type Visit } from './call.ts'
import { bringsPayment } from './proofs.ts'
import { createServer } from './server.ts'
import type { ToolDeps } from './tool.ts'

export interface McpDeps extends ToolDeps {
  readonly limits: Limits
}

/**
 * The MCP server, over streamable HTTP without sessions: for clients of 2026-07-28, and for those of
 * 2025-11-25 that shake hands first.
 *
 * Every request counts as reading before its body is read. What a call of a tool asks for is in its
 * body, so the limit that the same question has over HTTP is counted there. Pages of any origin may
 * call, as they may over HTTP: nothing is kept in cookies, and nobody has more rights by being near.
 */
export function routeMcp(app: FastifyInstance, deps: McpDeps): void {
  app.post(
    mcpPath,
    { config: { limit: 'reading', charges: true, findsOrders: true, mayBringPayment } },
    async (request, reply) => {
      // It was let in because its payment could be in its body, and there is none.
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
            call: (tool, args, meta) => answerCall(deps, visit, tool, { args, meta }),
          }),
        {
          // Nothing that a client could listen for changes while it listens.
          maxSubscriptions: 0,
          keepAliveMs: 0,
          onerror: (error) => {
            fault = error
          },
        },
      )
      const response = await fetch(webRequest(request), { parsedBody: request.body })
      // What the library refuses is the caller's fault, unless it says that it is ours.
      if (response.status >= 500) request.log.error({ err: fault }, 'unexpected error')
      return send(reply, response)
    },
  )
}

function visitOf(limits: Limits, request: FastifyRequest, reply: FastifyReply): Visit {
  return {
    requestId: request.id,
    client: clientKeyOf(request.ip),
    log: request.log,
    heldUp: request.heldUp,
    async count(name: LimitName) {
      // The request itself has counted as reading.
      if (name === 'reading') return undefined
      return aboveLimit(limits[name], await limits[name].take(clientKeyOf(request.ip)), reply)
    },
    mayProve: () => lookAtRefused(limits.refused, request, reply),
    provedNothing: () => countRefused(limits.refused, request),
  }
}

/** A body that was not read, or cannot be, may have a payment in it like any other. */
function mayBringPayment({ body }: FastifyRequest): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return true
  const { params } = body as { params?: { _meta?: unknown } | null }
  const meta = params?._meta
  return typeof meta === 'object' && meta !== null && bringsPayment({ meta: { ...meta } })
}

/** The request as the library of the protocol reads it: its headers; the body is parsed already. */
function webRequest({ headers }: FastifyRequest): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return new Request(`http://localhost${mcpPath}`, { method: 'POST', headers: given })
}

async function send(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  const type = response.headers.get('content-type')
  reply.code(response.status).header('cache-control', 'no-store')
  return type === null ? reply.send() : reply.type(type).send(await response.text())
}
