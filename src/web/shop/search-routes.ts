import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readShopQuery } from '../../api/shop/shop-query.ts'
import { shopSearch } from '../../api/shop/shop-search.ts'
import type { WebDeps } from '../frame/deps.ts'
import type { PageSenders } from '../frame/senders.ts'
import { searchPath } from './search-address.ts'
import { searchFaultPage } from './search-fault-page.ts'
import { searchPage } from './search-page.ts'

/** More of a query is nobody's search, as for the interfaces. */
const maxQuery = 2_048

/**
 * The search. It is made once for what it means, until the catalog or its prices change: neither what is
 * unknown in an address nor how it is written makes it another one. What cannot be read is told beside
 * its field, with the status that the interfaces answer too, and nothing is searched for.
 */
export function routeSearch(pages: FastifyInstance, senders: PageSenders, deps: WebDeps): void {
  pages.get('/search', { config: { limit: 'reading' } }, (request, reply) => {
    const { sold } = deps.liveCatalog.current()
    const read = readShopQuery(queryOf(request), sold)
    if (read.faults.size > 0) {
      return senders.send(request, reply.code(400), searchFaultPage(read, deps))
    }
    const page = () => searchPage(read.query, shopSearch(sold, read.query), deps)
    return senders.sendKept(request, reply, searchPath(read.query), page)
  })
}

function queryOf({ raw: { url = '' } }: FastifyRequest): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start < 0 ? '' : url.slice(start, start + maxQuery))
}
