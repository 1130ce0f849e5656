import type { FastifyInstance } from 'fastify'
import { publicMinute, sendText } from '../../http/caching.ts'
import { fixedHeaders } from '../frame/page-headers.ts'
import type { ModelPageDeps } from './deps.ts'
import { llmsFullPage, llmsPage } from './llms.ts'
import { skillPage } from './skill.ts'

/** The pages for models: text, made once of what the store can do. */
export function routeForModels(app: FastifyInstance, deps: ModelPageDeps): void {
  const pages = [
    ['/llms.txt', llmsPage(deps), 'text/plain'],
    ['/llms-full.txt', llmsFullPage(deps), 'text/plain'],
    ['/SKILL.md', skillPage(deps), 'text/markdown'],
  ] as const
  for (const [path, text, type] of pages) {
    app.get(path, { config: { limit: 'reading' } }, (request, reply) => {
      reply.headers(fixedHeaders)
      return sendText(request, reply, { text, type, cacheControl: publicMinute })
    })
  }
}
