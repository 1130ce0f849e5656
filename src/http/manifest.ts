import type { FastifyInstance } from 'fastify'
import { fulfillmentPolicy, refundPolicy } from '../api/extensions/policies.ts'
import type { Operation } from '../api/operation.ts'
import { operations } from '../api/operations.ts'
import { catalogPrefix } from '../api/paths.ts'
import type { Site } from '../api/site.ts'
import { manifests } from '../api/store-operations.ts'
import type { Params } from '../catalog/search/params.ts'
import type { Signals } from '../health/signals.ts'

export interface ManifestDeps {
  readonly site: Site
  readonly signals: () => Signals
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
}

/** The manifest, at the two addresses where clients look for it. */
export function routeManifest(app: FastifyInstance, deps: ManifestDeps): void {
  for (const { path } of manifests) {
    // Signals older than five minutes count as down, so no cache may keep them for long.
    app.get(path, { config: { limit: 'reading' } }, (_, reply) =>
      reply.header('cache-control', 'public, max-age=15').send(manifest(deps)),
    )
  }
}

/** The published manifest (x402-signals v0.2, sections 4 and 5). */
function manifest({ site, signals, fulfillmentDeadlineSeconds }: ManifestDeps) {
  const resources = resourcesOf(site)
  return {
    x402Version: 2,
    version: 1,
    name: site.name,
    description: site.description,
    url: site.url,
    logo: site.logo,
    contact: site.contact,
    extensions: {
      bazaar: {
        name: site.name,
        description: site.description,
        logo_url: site.logo,
        category: 'digital-goods',
        provider_url: site.url,
      },
    },
    fulfillment_policy: fulfillmentPolicy(fulfillmentDeadlineSeconds),
    refund_policy: refundPolicy,
    signals: signals(),
    resources,
  }
}

/** The catalog interface: each address once, by the operation that takes a body where there is one. */
const listed = operations
  .filter(({ path, group }) => path.startsWith(catalogPrefix) && group !== 'Store')
  .filter((operation, _, all) => operation === shownAt(operation.path, all))

function shownAt(path: string, all: readonly Operation[]): Operation | undefined {
  const there = all.filter((operation) => operation.path === path)
  return there.find(({ body }) => body !== undefined) ?? there[0]
}

function resourcesOf(site: Site) {
  return listed.map(
    ({ method, path, name, description, pathParams = {}, query = {}, headers, body }) => {
      const required = Object.keys(pathParams)
      const properties = { ...pathParams, ...schemasOf(query) }
      const fields = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
      const inputSchema = required.length > 0 ? fields : (body ?? fields)
      const requiredHeaders = requiredOf(headers)
      return {
        url: `${site.url}${path}`,
        method,
        name,
        description,
        inputSchema,
        ...(requiredHeaders.length > 0 ? { requiredHeaders } : {}),
      }
    },
  )
}

function requiredOf(headers: Operation['headers'] = {}): string[] {
  return Object.keys(headers).filter((name) => headers[name]?.required)
}

function schemasOf(params: Params): object {
  return Object.fromEntries(Object.entries(params).map(([name, { schema }]) => [name, schema]))
}
