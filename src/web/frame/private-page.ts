import type { FastifyReply } from 'fastify'
import { type TitledName, titled } from '../texts/texts.ts'
import { document, type Frame, type Page } from './layout.ts'
import { messagePage } from './message-page.ts'
import { fixedHeaders, pageHeaders } from './page-headers.ts'

/** Marks an answer for one visitor only: no cache stores it, and no search engine indexes it. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply
    .headers(fixedHeaders)
    .header('cache-control', 'no-store')
    .header('x-robots-tag', 'noindex, nofollow')
}

/**
 * Sends a page for one visitor only. It shows our own logo: that of the operator may come from another host, which must
 * not learn of the visit.
 */
export function sendPrivately(reply: FastifyReply, frame: Frame, page: Page): FastifyReply {
  const own = { ...frame, site: { ...frame.site, logo: '/logo.svg' } }
  return privately(reply)
    .headers(pageHeaders(page))
    .type('text/html; charset=utf-8')
    .send(document(own, page))
}

/** Sends a page with one message to one visitor only. */
export function sayPrivately(reply: FastifyReply, frame: Frame, message: TitledName): FastifyReply {
  return sendPrivately(reply, frame, messagePage(titled(frame.t, message), frame.t))
}
