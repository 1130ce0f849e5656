import type { FastifyReply, FastifyRequest } from 'fastify'
import { createAnswerCache } from '../../http/answer-cache.ts'
import { publicMinute, sendAnswer, sendText } from '../../http/caching.ts'
import type { WebDeps } from './deps.ts'
import { document, type Frame, type Page } from './layout.ts'
import { pageHeaders } from './page-headers.ts'

/** Sends public pages. */
export interface PageSenders {
  readonly send: (request: FastifyRequest, reply: FastifyReply, page: Page) => FastifyReply
  /**
   * Does the same, and caches the page until the catalog or its prices change.
   *
   * @param path the canonical path, the same for all requests that get this page; the page depends on nothing else of
   *   the request
   */
  readonly sendKept: (
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    page: () => Page,
  ) => FastifyReply
}

/** A few hundred pages in all forms; small compared with the catalog. */
const maxPageBytes = 16 * 1024 * 1024

export function pageSenders(frame: Frame, deps: WebDeps): PageSenders {
  const { site } = frame
  const pages = createAnswerCache(deps, { maxBytes: maxPageBytes })
  const cacheControl = publicMinute
  // None of these pages runs a script.
  const headers = pageHeaders({}, [site.logo])
  return {
    send(request, reply, page) {
      reply.headers(headers)
      return sendText(request, reply, {
        text: document(frame, page),
        type: 'text/html',
        cacheControl,
      })
    },
    sendKept(request, reply, path, page) {
      const question = { key: path, answer: () => document(frame, page()) }
      const found = pages.find('page', path, () => question)
      reply.headers(headers)
      return sendAnswer(request, reply, { found, cacheControl, type: 'text/html' })
    },
  }
}
