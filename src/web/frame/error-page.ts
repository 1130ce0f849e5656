import type { FastifyReply, FastifyRequest } from 'fastify'
import { internalRule, rules } from '../../api/refusals.ts'
import type { PageFor } from '../../http/error-edge.ts'
import { pathOf } from '../../http/route-table.ts'
import { Refusal, type RefusalCode } from '../../lib/refusal.ts'
import { document, type Frame } from './layout.ts'
import { type Message, messagePage } from './message-page.ts'
import { pageHeaders } from './page-headers.ts'
import { withRetryAfter } from './retry-after.ts'

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

/** What a visitor is told, which says nothing of money: no page of an error knows what was paid. */
const wordsFor: Readonly<Record<RefusalCode, Exclude<keyof Frame['texts']['messages'], Phrase>>> = {
  invalid_parameter: 'notRead',
  unknown_parameter: 'notRead',
  repeated_parameter: 'notRead',
  invalid_url: 'notFound',
  invalid_json: 'notRead',
  invalid_body: 'notRead',
  invalid_header: 'notRead',
  unsupported_media_type: 'notRead',
  body_too_large: 'notRead',
  not_found: 'notFound',
  method_not_allowed: 'notRead',
  offer_not_found: 'offerNotFound',
  offer_unavailable: 'notTaken',
  order_not_found: 'orderNotFound',
  payment_invalid: 'notTaken',
  payment_mismatch: 'notTaken',
  payment_reused: 'notTaken',
  idempotency_conflict: 'notTaken',
  idempotency_key_missing: 'notRead',
  no_receipt: 'noReceipt',
  not_refundable: 'notRefundable',
  refund_destination_refused: 'notRead',
  sign_in_invalid: 'notTaken',
  limit_exceeded: 'notTaken',
  rate_limited: 'tooMany',
  budget_spent: 'tooOften',
  store_paused: 'notNow',
  try_again: 'notNow',
  too_costly: 'notNow',
}

type Phrase = 'home' | 'search' | 'reference' | 'retry'

function refusalMessage(
  { code, details }: Refusal,
  messages: Frame['texts']['messages'],
  reply: FastifyReply,
): Message {
  withRetryAfter(reply.code(rules[code].status), details)
  const message = messages[wordsFor[code]]
  const { retryAfterSeconds } = details
  return code === 'rate_limited' && retryAfterSeconds !== undefined
    ? { ...message, note: messages.retry(retryAfterSeconds) }
    : message
}

/** The status for what the HTTP library did not take: a body too long or of another type. */
function unreadable(error: unknown): number | undefined {
  if (!(error instanceof Error && 'statusCode' in error)) return undefined
  const { statusCode } = error
  const isTheirs = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isTheirs ? statusCode : undefined
}
