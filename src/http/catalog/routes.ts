import type { FastifyInstance } from 'fastify'
import { catalogReadings } from '../../api/catalog/browse.ts'
import { askOffer, offerReadings } from '../../api/catalog/offer.ts'
import type { ReadDeps } from '../../api/deps.ts'
import type { AnswerCache } from '../answer-cache.ts'
import { revalidate, sendAnswer } from '../caching.ts'
import { inQuery } from '../in-query.ts'
import { routeOf } from '../operations.ts'

type CachedDeps = ReadDeps & { readonly answers: AnswerCache }

const limited = { config: { limit: 'reading' } } as const

/** The reading part of the catalog interface: free, for anyone. */
export function routeCatalogReading(app: FastifyInstance, deps: CachedDeps): void {
  const { answers } = deps
  for (const operation of catalogReadings) {
    app.get(routeOf(operation), limited, (request, reply) => {
      const url = request.raw.url ?? ''
      const found = answers.find(operation.path, url, () => operation.ask(inQuery(url), deps))
      return sendAnswer(request, reply, { found, cacheControl: revalidate })
    })
  }
  for (const operation of offerReadings) {
    app.get<{ Params: { id: string } }>(routeOf(operation), limited, (request, reply) => {
      const url = request.raw.url ?? ''
      const { id } = request.params
      const found = answers.find(operation.path, url, () =>
        askOffer(operation.kind, id, inQuery(url), deps),
      )
      return sendAnswer(request, reply, { found, cacheControl: revalidate })
    })
  }
}
