import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readShopQuery } from '../../desk/shop/shop-query.ts'
import { shopSearch } from '../../desk/shop/shop-search.ts'
import type { WebDeps } from '../frame/deps.ts'
import type { Page } from '../frame/layout.ts'
import { searchPage } from './search-page.ts'

/** More of a query is nobody's search, as for the interfaces (reliability: sizes). */
const queryMost = 2_048

/**
 * The search. What cannot be read is told beside its field, with the status that the interfaces
 * answer too; the rest of the search still holds.
 */
export function routeSearch(
  pages: FastifyInstance,
  send: (request: FastifyRequest, reply: FastifyReply, page: Page) => FastifyReply,
  deps: WebDeps,
): void {
  pages.get('/search', { config: { limit: 'reading' } }, (request, reply) => {
    const { sold } = deps.shelf.current()
    const read = readShopQuery(queryOf(request), sold)
    const answer = shopSearch(sold, read.query)
    if (read.faults.size > 0) reply.code(400)
    return send(request, reply, searchPage(read, answer, deps))
  })
}

function queryOf({ raw: { url = '' } }: FastifyRequest): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : url.slice(start, start + queryMost))
}
