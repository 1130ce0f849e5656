import type { FastifyInstance } from 'fastify'
import { mcpPath } from '../../api/paths.ts'
import { publicMinute, sendText } from '../../http/caching.ts'
import { fixedHeaders } from '../frame/page-headers.ts'
import type { ModelPageDeps } from './deps.ts'
import { llmsFullPage, llmsPage } from './llms.ts'
import { skillPage } from './skill.ts'
import { apiCatalog, catalogLinkPath, securityText, serverCard, skillIndex } from './well-known.ts'

const linkset = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** The pages for models, and what hosts and indexes probe: made once of what the store can do. */
export function routeForModels(app: FastifyInstance, deps: ModelPageDeps): void {
  const { site } = deps
  const skill = skillPage(deps)
  const card = JSON.stringify(serverCard(site))
  const texts = [
    ['/llms.txt', llmsPage(deps), 'text/plain'],
    ['/llms-full.txt', llmsFullPage(deps), 'text/plain'],
    ['/SKILL.md', skill, 'text/markdown'],
    ['/skill.md', skill, 'text/markdown'],
    ['/.well-known/agent-skills/index.json', JSON.stringify(skillIndex(site, skill)), json],
    ['/.well-known/mcp/server-card.json', card, json],
    [`${mcpPath}/server-card`, card, 'application/mcp-server-card+json'],
    [catalogLinkPath, JSON.stringify(apiCatalog(site)), linkset],
    ['/.well-known/security.txt', securityText(site, deps.now()), 'text/plain'],
  ] as const
  for (const [path, text, type] of texts) {
    app.get(path, { config: { limit: 'reading' } }, (request, reply) => {
      reply.headers(fixedHeaders)
      return sendText(request, reply, { text, type, cacheControl: publicMinute })
    })
  }
}

const json = 'application/json'
