import type { FastifyReply, FastifyRequest } from 'fastify'
import { internalRule, rules } from '../../api/refusals.ts'
import type { PageFor } from '../../http/error-edge.ts'
import { pathOf } from '../../http/route-table.ts'
import { Refusal, type RefusalCode } from '../../lib/refusal.ts'
import { type Texts, type TitledName, titled } from '../texts/texts.ts'
import { html } from './html.ts'
import { document, type Frame, type Page } from './layout.ts'
import { pageHeaders } from './page-headers.ts'
import { withRetryAfter } from './retry-after.ts'

/** What a page says, and how it is titled. */
interface Message {
  readonly title: string
  readonly text: string
  /** What helps to go on, or to ask. */
  readonly note?: string
}

/** A page that says one thing and leads on. */
export function messagePage({ title, text, note }: Message, t: Texts): Page {
  return {
    title,
    description: text,
    main: html`<section class="message">
<h1>${title}</h1>
<p>${text}</p>
${note !== undefined && html`<p class="hint">${note}</p>`}
<p class="act"><a class="button" href="/">${t('messages.home')}</a> <a href="/search">${t('messages.search')}</a></p>
</section>`,
  }
}

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
  return document(frame, messagePage(message, frame.t))
}

function messageFor(
  error: unknown,
  { t }: Frame,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Message {
  if (error instanceof Refusal) return refusalMessage(error, t, reply)
  const status = unreadable(error)
  if (status !== undefined) {
    reply.code(status)
    return titled(t, status === 404 || status === 414 ? 'messages.notFound' : 'messages.notRead')
  }
  request.log.error({ err: error }, 'unexpected error')
  reply.code(internalRule.status)
  return { ...titled(t, 'messages.broken'), note: t('messages.reference', { id: request.id }) }
}

/** What a visitor is told, which says nothing of money: no page of an error knows what was paid. */
const wordsFor: Readonly<Record<RefusalCode, TitledName>> = {
  invalid_parameter: 'messages.notRead',
  unknown_parameter: 'messages.notRead',
  repeated_parameter: 'messages.notRead',
  invalid_url: 'messages.notFound',
  invalid_json: 'messages.notRead',
  invalid_body: 'messages.notRead',
  invalid_header: 'messages.notRead',
  unsupported_media_type: 'messages.notRead',
  body_too_large: 'messages.notRead',
  not_found: 'messages.notFound',
  method_not_allowed: 'messages.notRead',
  offer_not_found: 'messages.offerNotFound',
  offer_unavailable: 'messages.notTaken',
  price_above_maximum: 'messages.notTaken',
  order_not_found: 'messages.orderNotFound',
  payment_invalid: 'messages.notTaken',
  payment_mismatch: 'messages.notTaken',
  payment_reused: 'messages.notTaken',
  idempotency_conflict: 'messages.notTaken',
  idempotency_key_missing: 'messages.notRead',
  no_receipt: 'messages.noReceipt',
  no_webhook: 'messages.orderNotFound',
  not_refundable: 'messages.notRefundable',
  refund_destination_refused: 'messages.notRead',
  sign_in_invalid: 'messages.notTaken',
  limit_exceeded: 'messages.notTaken',
  approval_required: 'messages.notTaken',
  approval_declined: 'messages.notTaken',
  rate_limited: 'messages.tooMany',
  budget_spent: 'messages.tooOften',
  store_paused: 'messages.notNow',
  try_again: 'messages.notNow',
  too_costly: 'messages.notNow',
}

function refusalMessage({ code, details }: Refusal, t: Texts, reply: FastifyReply): Message {
  withRetryAfter(reply.code(rules[code].status), details)
  const message = titled(t, wordsFor[code])
  const { retryAfterSeconds } = details
  return code === 'rate_limited' && retryAfterSeconds !== undefined
    ? { ...message, note: t('messages.retry', { seconds: retryAfterSeconds }) }
    : message
}

/** The status for what the HTTP library did not take: a body too long or of another type. */
function unreadable(error: unknown): number | undefined {
  if (!(error instanceof Error && 'statusCode' in error)) return undefined
  const { statusCode } = error
  const isTheirs = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
  return isTheirs ? statusCode : undefined
}
