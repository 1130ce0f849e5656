import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { openApiPath } from '../api/paths.ts'
import type { Site } from '../api/site.ts'
import { publicMinute, sendAnswer } from './caching.ts'
import { fixedText } from './fixed-text.ts'

/** Where the OpenAPI document is looked for. */
const openApiPaths = [openApiPath, '/ai/openapi.json'] as const

export interface OpenApiDeps {
  readonly site: Site
  /** Contract address of what is paid with. */
  readonly asset: string
}

/** The OpenAPI document of this store, read and filled in once. */
export function routeOpenApi(app: FastifyInstance, deps: OpenApiDeps): void {
  const file = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
  const found = fixedText(openApiFor(deps, file))
  for (const path of openApiPaths) {
    app.get(path, { config: { limit: 'reading' } }, (request, reply) =>
      sendAnswer(request, reply, { found, cacheControl: publicMinute }),
    )
  }
}

interface Document {
  info: object
  servers: [{ url: string }]
  paths: Record<string, Record<string, Paid>>
}
interface Paid {
  'x-payment-info'?: { offers: { currency: string }[] }
}

/** The checked-in document, with this store in the place of the one that it speaks of. */
function openApiFor({ site, asset }: OpenApiDeps, file: string): string {
  const document: Document = JSON.parse(namedAs(site.url, file))
  for (const operation of Object.values(document.paths).flatMap(Object.values<Paid>)) {
    for (const offer of operation['x-payment-info']?.offers ?? []) offer.currency = asset
  }
  const { name, description, contact, url } = site
  const info = {
    ...document.info,
    title: name,
    description,
    contact: { name, email: contact, url },
  }
  return JSON.stringify({ ...document, info })
}

/** The text with this store's address, and its bare host, in the place of those it speaks of. */
function namedAs(url: string, file: string): string {
  const [spokenOf] = (JSON.parse(file) as Document).servers
  const { host } = new URL(url)
  const hostThere = new URL(spokenOf.url).host
  // In one pass: an address that begins like the other one must not be replaced again.
  return file
    .split(spokenOf.url)
    .map((part) => part.replaceAll(hostThere, host))
    .join(url)
}
