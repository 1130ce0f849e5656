import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import pack from '../../../package.json' with { type: 'json' }
import { catalogPrefix, manifestPath, mcpPath, openApiPath } from '../../api/paths.ts'
import type { Site } from '../../api/site.ts'
import { publicMinute, sendText } from '../../http/caching.ts'
import { fixedHeaders } from '../frame/layout.ts'
import { llmsFullPage, llmsPage, type ModelPageDeps, skillPage } from './llms.ts'

const linkset = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

/** The pages for models, and the paths that hosts and indexes probe. Their texts are made once. */
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

const catalogLinkPath = '/.well-known/api-catalog'

/** A description of the MCP server for clients that have not connected yet (SEP-2127). */
function serverCard({ name, description, url }: Site): object {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${new URL(url).hostname.split('.').reverse().join('.')}/${pack.name}`,
    version: pack.version,
    title: name,
    description,
    websiteUrl: url,
    remotes: [{ type: 'streamable-http', url: `${url}${mcpPath}` }],
  }
}

/** The interfaces of the store with their descriptions (RFC 9727, in the form of RFC 9264). */
function apiCatalog({ url }: Site): object {
  const described = {
    'service-desc': [{ href: `${url}${openApiPath}`, type: 'application/json' }],
    'service-doc': [{ href: `${url}/llms-full.txt`, type: 'text/plain' }],
    'service-meta': [{ href: `${url}${manifestPath}`, type: 'application/json' }],
  }
  const card = [{ href: `${url}/.well-known/mcp/server-card.json`, type: 'application/json' }]
  return {
    linkset: [
      { anchor: `${url}/ai`, ...described },
      { anchor: `${url}${catalogPrefix}`, ...described },
      { anchor: `${url}${mcpPath}`, 'service-desc': card },
    ],
  }
}

/** The one skill of the store, for agents that discover skills. */
function skillIndex({ url }: Site, skill: string): object {
  const said = (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(skill)?.[1]
  return {
    $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
    skills: [
      {
        name: said('name'),
        type: 'skill-md',
        description: said('description'),
        url: `${url}/SKILL.md`,
        digest: `sha256:${hash('sha256', skill)}`,
      },
    ],
  }
}

const yearMs = 365 * 24 * 60 * 60 * 1_000

/** Where to report a vulnerability (RFC 9116). It must expire; each start of the store renews it. */
function securityText({ contact, url }: Site, now: Date): string {
  const expires = new Date(now.getTime() + yearMs).toISOString().replace(/\.\d+/, '')
  return [
    `Contact: mailto:${contact}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${url}/.well-known/security.txt`,
    '',
  ].join('\n')
}

/** The `Link` header of the front page: the documents for software (RFC 8288). */
export const frontLinks = [
  `<${catalogLinkPath}>; rel="api-catalog"`,
  `<${openApiPath}>; rel="service-desc"; type="application/json"`,
  '</llms.txt>; rel="service-doc"; type="text/plain"',
  '</SKILL.md>; rel="describedby"; type="text/markdown"',
].join(', ')
