import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Site } from '../api/deps.ts'
import { openApiPath } from '../api/paths.ts'
import { fixedText, publicMinute, sendText } from './caching.ts'

export interface OpenApiDeps {
  readonly site: Site
  readonly asset: string
}

/** Serves the OpenAPI document of this store, at both paths at which clients look for it. */
export function routeOpenApi(app: FastifyInstance, deps: OpenApiDeps): void {
  const found = fixedText(JSON.stringify(openApiFor(deps)))
  for (const path of [openApiPath, '/ai/openapi.json']) {
    app.get(path, { config: { limit: 'reading' } }, (request, reply) =>
      sendText(request, reply, { ...found, cacheControl: publicMinute }),
    )
  }
}

interface Document {
  info: object
  servers: [{ url: string }]
  paths: Record<string, Record<string, { 'x-payment-info'?: { offers: { currency: string }[] } }>>
}

/** The checked-in document, with the address and the data of this store. */
function openApiFor({ site, asset }: OpenApiDeps): Document {
  const { name, description, contact, url } = site
  const file = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
  const [written] = (JSON.parse(file) as Document).servers
  // URLs and hosts in one pass: a URL that was just inserted must not be replaced again.
  const text = file
    .split(written.url)
    .map((part) => part.replaceAll(new URL(written.url).host, new URL(url).host))
    .join(url)
  const document: Document = JSON.parse(text)
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const offer of operation['x-payment-info']?.offers ?? []) offer.currency = asset
  }
  const about = { title: name, description, contact: { name, email: contact, url } }
  return { ...document, info: { ...document.info, ...about } }
}
