import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { discoveryError, problem } from '../api/refusals.ts'
import { type Charged, internalRule, Refusal, rules } from '../lib/refusal.ts'
import { notReadable } from '../orders/price.ts'
import { maxBody } from './call.ts'
import { mayBringPayment, pathOf, type RouteTable } from './gate.ts'

export interface ErrorEdge {
  readonly siteUrl: string
  readonly routes: RouteTable
  /** Undefined for clients that did not ask for a page. */
  readonly pageFor?: PageFor | undefined
}

/** Sets status and headers, and returns the page. */
export type PageFor = (
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
) => string | undefined

/** In the format of the interface that was called. Only our own defects are logged. */
export function answerError(
  edge: ErrorEdge,
  error: unknown,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): FastifyReply {
  const refusal = refusalFor(error, request)
  request.provesNothing = refusal?.details.provesNothing ?? false
  const page = edge.pageFor?.(refusal ?? error, request, reply)
  if (page !== undefined) return reply.send(page)
  // If the caller hung up in the middle of its body, the error is its own, and nobody reads the answer.
  const isOurs = refusal === undefined && !request.raw.readableAborted
  if (isOurs) request.log.error({ err: error }, 'unexpected error')
  const retryAfter = refusal?.details.retryAfterSeconds
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const { status } = refusal ? rules[refusal.code] : internalRule
  reply
    .code(status)
    .header('cache-control', 'no-store')
    .header('x-request-id', request.id)
    .removeHeader('etag')
  const path = pathOf(request.raw.url ?? '')
  const isDiscovery = path === '/ai' || path.startsWith('/ai/')
  const [type, body] = isDiscovery
    ? ['application/json', discoveryError(refusal)]
    : ['application/problem+json', problem(refusal, contextOf(edge, request, path))]
  return reply.type(`${type}; charset=utf-8`).send(JSON.stringify(body))
}

function contextOf({ siteUrl, routes }: ErrorEdge, request: FastifyRequest, path: string) {
  const charges = routes.find(path)?.config.charges ?? false
  const charged: Charged = mayBringPayment(request) ? 'unknown' : 'no'
  return { siteUrl, requestId: request.id, charged: charges ? charged : undefined }
}

/** Undefined for errors of other routes, and of a caller who hung up in the middle of its body. */
function ordersNotReadable(error: unknown, { routeOptions, raw, log }: FastifyRequest) {
  if (!routeOptions.config.readsOrders || raw.readableAborted) return undefined
  return notReadable(log, error)
}

/** Some come from the HTTP library, before our code runs. Undefined: our own defect. */
export function refusalFor(error: unknown, request: FastifyRequest): Refusal | undefined {
  if (error instanceof Refusal) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return new Refusal('invalid_url', 'The path is not valid UTF-8 in percent encoding.', {
        parameter: 'path',
      })
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Refusal('not_found', 'Nothing here has a name that long.')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Refusal('body_too_large', `The body may have at most ${maxBody} bytes.`)
    // The method QUERY requires a content type, whatever the path.
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Refusal('unsupported_media_type', 'Send the body as application/json.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Refusal('invalid_header', 'Content-Length is not the length of the body.')
    default:
      return ordersNotReadable(error, request)
  }
}

/** By the codes of Node. */
const unread: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The headers are larger than 16 kB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'The request took too long to arrive.'],
}
const notHttp = [400, 'invalid_http', 'The request is not valid HTTP.'] as const

/**
 * The path is unknown, so the body has the fields of both interfaces; the request may have repeated a charged
 * payment.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, code, detail] = unread[error.code ?? ''] ?? notHttp
  const title = STATUS_CODES[status]
  const about = { type: 'about:blank', title, status, detail, code, requestId: randomUUID() }
  const extensions = { retryable: status === 408, charged: 'unknown', error: detail }
  const body = JSON.stringify({ ...about, ...extensions })
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${title}\r\ncontent-type: application/problem+json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
  socket.destroy(error)
}
