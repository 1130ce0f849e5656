import type { FastifyReply, FastifyRequest } from 'fastify'
import { internalRule, rules } from '../../desk/refusals.ts'
import type { PageFor } from '../../http/error-edge.ts'
import { pathOf } from '../../http/route-table.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { document, type Frame } from './layout.ts'
import { type Message, messagePage } from './message-page.ts'
import { pageHeaders } from './page-headers.ts'

/** Where software asks: its errors stay as they are, whatever it says that it accepts. */
export const interfaces =
  /^\/(api|ai|mcp|\.well-known|webhooks|sandbox|metrics|readyz|healthz|livez)(\/|$)/

/**
 * The page for an error, for browsers that asked for a page; undefined for everybody else. Only for
 * what no page's own routes have answered, such as an address that is none.
 */
export function browserErrors(frame: Frame): PageFor {
  return (error, request, reply) => {
    const asksForPage = request.headers.accept?.includes('text/html') ?? false
    if (!asksForPage || interfaces.test(pathOf(request.raw.url ?? ''))) return undefined
    return errorDocument(error, { request, reply, frame })
  }
}

/** The page for an error, with its status and headers set. Only a defect of ours is logged. */
export function errorDocument(
  error: unknown,
  { request, reply, frame }: { request: FastifyRequest; reply: FastifyReply; frame: Frame },
): string {
  const message = messageFor(error, frame, { request, reply })
  reply
    .headers(pageHeaders([frame.site.logo]))
    .header('cache-control', 'no-store')
    .header('x-request-id', request.id)
    .removeHeader('etag')
    .type('text/html; charset=utf-8')
  return document(frame, messagePage(message, frame.texts))
}

function messageFor(
  error: unknown,
  { texts: { messages } }: Frame,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Message {
  if (error instanceof Refusal) return refusalMessage(error, messages, reply)
  const status = unreadable(error)
  if (status !== undefined) {
    reply.code(status)
    return status === 404 || status === 414 ? messages.notFound : messages.notRead
  }
  request.log.error({ err: error }, 'unexpected error')
  reply.code(internalRule.status)
  return { ...messages.broken, note: messages.reference(request.id) }
}

/** What a visitor is told; a code that no page has words for was a request that no page sends. */
function refusalMessage(
  { code, details }: Refusal,
  messages: Frame['texts']['messages'],
  reply: FastifyReply,
): Message {
  reply.code(rules[code].status)
  if (code === 'offer_not_found') return messages.offerNotFound
  if (code === 'order_not_found') return messages.orderNotFound
  if (code === 'not_found' || code === 'invalid_url') return messages.notFound
  if (code === 'try_again') return messages.notNow
  if (code === 'budget_spent') return messages.tooManyAttempts
  if (code !== 'rate_limited') return messages.notRead
  const seconds = details.retryAfterSeconds ?? 1
  reply.header('retry-after', String(seconds))
  return { ...messages.tooMany, note: messages.retry(seconds) }
}

/** The status for what the HTTP library did not take: a body too long or of another type. */
function unreadable(error: unknown): number | undefined {
  if (!(error instanceof Error && 'statusCode' in error)) return undefined
  const { statusCode } = error
  const isTheirs = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isTheirs ? statusCode : undefined
}
