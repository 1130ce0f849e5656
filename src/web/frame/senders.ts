import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createAnswerCache,
  type FixedText,
  fixedText,
  publicMinute,
  sendText,
} from '../../http/caching.ts'
import { type PageFor, refusalFor } from '../../http/error-edge.ts'
import { pathOf } from '../../http/gate.ts'
import { internalRule, type Refusal, type RefusalCode, rules } from '../../lib/refusal.ts'
import { type Texts, type TitledName, titled } from '../texts/texts.ts'
import type { WebDeps } from './deps.ts'
import { html } from './html.ts'
import { document, type Frame, fixedHeaders, type Page, pageHeaders } from './layout.ts'

export type PageSenders = ReturnType<typeof pageSenders>

/** A few hundred pages; small compared with the catalog. */
const maxPageBytes = 16 * 1024 * 1024

export function pageSenders(frame: Frame, deps: WebDeps) {
  const pages = createAnswerCache(deps, maxPageBytes)
  // None of these pages runs a script.
  const headers = pageHeaders({}, frame.site.logo)
  const sendPage = (request: FastifyRequest, reply: FastifyReply, text: FixedText) => {
    reply.headers(headers)
    return sendText(request, reply, { ...text, type: 'text/html', cacheControl: publicMinute })
  }
  return {
    send: (request: FastifyRequest, reply: FastifyReply, page: Page) =>
      sendPage(request, reply, fixedText(document(frame, page))),
    /**
     * Does the same, and caches the page until the catalog or its prices change.
     *
     * @param path the canonical path, the same for all requests that get this page; the page depends on nothing else of
     *   the request
     */
    sendKept: (request: FastifyRequest, reply: FastifyReply, path: string, page: () => Page) =>
      sendPage(
        request,
        reply,
        pages.find(path, () => document(frame, page())),
      ),
  }
}

/** Marks an answer for one visitor only: no cache stores it, and no search engine indexes it. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply
    .headers(fixedHeaders)
    .header('cache-control', 'no-store')
    .header('x-robots-tag', 'noindex, nofollow')
}

/** With our own logo: that of the operator may come from another host, which must not learn of the visit. */
export function sendPrivately(reply: FastifyReply, frame: Frame, page: Page): FastifyReply {
  const own = { ...frame, site: { ...frame.site, logo: '/logo.svg' } }
  return privately(reply).send(written(reply, own, page))
}

/** Sets the headers of a page, and returns its text. */
export function written(reply: FastifyReply, frame: Frame, page: Page): string {
  reply.headers(pageHeaders(page, frame.site.logo)).type('text/html; charset=utf-8')
  return document(frame, page)
}

export function sayPrivately(reply: FastifyReply, frame: Frame, message: TitledName): FastifyReply {
  return sendPrivately(reply, frame, messagePage(titled(frame.t, message), frame.t))
}

interface Message {
  readonly title: string
  readonly text: string
  /** What helps the visitor to continue, or to ask for help. */
  readonly note?: string
}

function messagePage({ title, text, note }: Message, t: Texts): Page {
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

/** The paths of the APIs, whose errors are never pages, whatever the client accepts. */
export const interfaces =
  /^\/(api|ai|mcp|\.well-known|webhooks|sandbox|metrics|readyz|healthz|livez)(\/|$)/

/** The error page for browsers, outside the routes of the pages; undefined for other clients. */
export function browserErrors(frame: Frame): PageFor {
  return (error, request, reply) => {
    const asksForPage = request.headers.accept?.includes('text/html') ?? false
    if (!asksForPage || interfaces.test(pathOf(request.raw.url ?? ''))) return undefined
    return errorDocument(error, { request, reply, frame })
  }
}

/** The page for an error; sets status and headers. Only our own defects are logged. */
export function errorDocument(
  error: unknown,
  { request, reply, frame }: { request: FastifyRequest; reply: FastifyReply; frame: Frame },
): string {
  const message = messageFor(error, frame, { request, reply })
  reply.header('cache-control', 'no-store').header('x-request-id', request.id).removeHeader('etag')
  return written(reply, frame, messagePage(message, frame.t))
}

function messageFor(
  error: unknown,
  { t }: Frame,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Message {
  const refusal = refusalFor(error, request)
  if (refusal) return refusalMessage(refusal, t, reply)
  // Whoever hung up in the middle of a form reads no answer.
  if (request.raw.readableAborted) {
    reply.code(400)
    return titled(t, 'messages.notRead')
  }
  request.log.error({ err: error }, 'unexpected error')
  reply.code(internalRule.status)
  return { ...titled(t, 'messages.broken'), note: t('messages.reference', { id: request.id }) }
}

/** Codes whose page says more than their status does. */
const messageOf: Readonly<Partial<Record<RefusalCode, TitledName>>> = {
  invalid_url: 'messages.notFound',
  offer_not_found: 'messages.offerNotFound',
  order_not_found: 'messages.orderNotFound',
  no_webhook: 'messages.orderNotFound',
  no_receipt: 'messages.noReceipt',
  not_refundable: 'messages.notRefundable',
  budget_spent: 'messages.tooOften',
}

/** The message for a status. No message mentions money, because an error page does not know what was paid. */
function messageWith(status: number): TitledName {
  if (status === 404) return 'messages.notFound'
  if (status === 429) return 'messages.tooMany'
  if (status === 503) return 'messages.notNow'
  return [401, 402, 403, 409].includes(status) ? 'messages.notTaken' : 'messages.notRead'
}

function refusalMessage({ code, details }: Refusal, t: Texts, reply: FastifyReply): Message {
  const { status } = rules[code]
  withRetryAfter(reply.code(status), details)
  const message = titled(t, messageOf[code] ?? messageWith(status))
  const { retryAfterSeconds } = details
  return code === 'rate_limited' && retryAfterSeconds !== undefined
    ? { ...message, note: t('messages.retry', { seconds: retryAfterSeconds }) }
    : message
}

/** Sets `Retry-After` if it is known when the same request may succeed. */
export function withRetryAfter(
  reply: FastifyReply,
  { retryAfterSeconds }: { readonly retryAfterSeconds?: number | undefined },
): FastifyReply {
  if (retryAfterSeconds === undefined) return reply
  return reply.header('retry-after', String(retryAfterSeconds))
}
