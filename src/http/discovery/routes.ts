import type { FastifyInstance } from 'fastify'
import type { ReadDeps } from '../../api/deps.ts'
import { serviceIndex } from '../../api/discovery/service-index.ts'
import { discoveryReadings } from '../../api/operations.ts'
import { manifestPath, openApiPath } from '../../api/paths.ts'
import type { AnswerCache } from '../answer-cache.ts'
import { publicMinute, sendAnswer } from '../caching.ts'
import { inQuery } from '../in-query.ts'

/** The way from discovery to buying, by the link relations of RFC 8631. */
const link = `<${manifestPath}>; rel="service-meta"; type="application/json", <${openApiPath}>; rel="service-desc"; type="application/json"`

/** The discovery interface: read-only, for anyone, over everything that is sold. */
export function routeDiscovery(
  app: FastifyInstance,
  { answers, ...deps }: ReadDeps & { readonly answers: AnswerCache },
): void {
  for (const operation of discoveryReadings) {
    // The index is the same small text for everyone, so it does not count against the limit.
    const options = operation === serviceIndex ? {} : ({ config: { limit: 'discovery' } } as const)
    app.get(operation.path, options, (request, reply) => {
      const url = request.raw.url ?? ''
      const found = answers.find(operation.path, url, () => operation.ask(inQuery(url), deps))
      return sendAnswer(request, reply.header('link', link), { found, cacheControl: publicMinute })
    })
  }
}
