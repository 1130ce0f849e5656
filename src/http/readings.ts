import type { FastifyInstance } from 'fastify'
import type { ReadDeps } from '../api/deps.ts'
import { readings } from '../api/operations.ts'
import { manifestPath, openApiPath } from '../api/paths.ts'
import type { AnswerCache } from './answer-cache.ts'
import { publicMinute, revalidate, sendText } from './caching.ts'
import { inQuery } from './call.ts'
import { configOf, routeOf } from './operations.ts'

/** Links from discovery to the manifest and the OpenAPI document, with the relations of RFC 8631. */
const link = `<${manifestPath}>; rel="service-meta"; type="application/json", <${openApiPath}>; rel="service-desc"; type="application/json"`

/** Routes everything that anyone may read for free: the discovery interface and the reads of the catalog interface. */
export function routeReadings(
  app: FastifyInstance,
  { answers, ...deps }: ReadDeps & { readonly answers: AnswerCache },
): void {
  for (const reading of readings) {
    const isDiscovery = reading.group === 'Discovery'
    const cacheControl = isDiscovery ? publicMinute : revalidate
    app.get(routeOf(reading), { config: configOf(reading) }, (request, reply) => {
      const url = request.raw.url ?? ''
      const { id } = request.params as { id?: string }
      const found = answers.find(url, () => reading.ask(inQuery(url), deps, id))
      if (isDiscovery) reply.header('link', link)
      return sendText(request, reply, { ...found, cacheControl })
    })
  }
}
