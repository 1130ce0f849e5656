import * as z from 'zod'
import type { Params } from '../../catalog/search/params.ts'
import {
  FulfillmentPolicyShape,
  fulfillmentPolicy,
  refundPolicy,
  refundPolicyShape,
  SignalsShape,
} from '../extensions/policies.ts'
import { answers, type Operation, type StoreDeps, type StoreOperation } from '../operation.ts'
import { catalogPrefix, manifestPath } from '../paths.ts'
import type { Site } from '../site.ts'

const ManifestAnswer = z
  .object({
    x402Version: z.literal(2),
    version: z.literal(1),
    name: z.string(),
    description: z.string(),
    url: z.url(),
    logo: z.url(),
    contact: z.string(),
    extensions: z.object({
      bazaar: z.object({
        name: z.string(),
        description: z.string(),
        logo_url: z.url(),
        category: z.string(),
        provider_url: z.url(),
      }),
    }),
    fulfillment_policy: FulfillmentPolicyShape,
    refund_policy: z.object({
      ...refundPolicyShape,
      refund_policy_by_product: z.record(z.string(), z.looseObject({ type: z.string() })),
    }),
    signals: SignalsShape,
    resources: z.array(
      z.object({
        url: z.string(),
        method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
        name: z.string(),
        description: z.string(),
        inputSchema: z.looseObject({ type: z.literal('object') }),
        requiredHeaders: z.array(z.string()).optional().describe('Without them it is refused'),
      }),
    ),
  })
  .meta({ id: 'Manifest' })

const manifest = {
  method: 'GET',
  group: 'Store',
  name: 'Manifest',
  description:
    'Who runs the store, every operation with the schema of its input, when goods come and when money goes back, and in signals whether to buy now. Read signals before each purchase: stop means that purchases are refused.',
  answers: answers('The manifest', ManifestAnswer),
  refusals: [],
  limit: 'reading',
  access: 'free',
  // Signals older than five minutes count as down, so no cache may keep them for long.
  cacheControl: 'public, max-age=15',
  run: (deps) => ({ body: manifestOf(deps) }),
} satisfies Omit<StoreOperation, 'id' | 'path'>

/** The same manifest at both paths where clients look for it. */
export const manifests: readonly StoreOperation[] = [
  { ...manifest, id: 'manifest', path: manifestPath },
  { ...manifest, id: 'catalogManifest', path: catalogPrefix },
]

/** The published manifest (x402-signals v0.2, sections 4 and 5). */
function manifestOf({ site, health, fulfillmentDeadlineSeconds, operations }: StoreDeps) {
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
    signals: health.signals(),
    resources: listed(operations).map((operation) => resourceOf(site, operation)),
  }
}

/** The operations of the catalog interface, one for each path: the one with a body, if there is one. */
function listed(operations: readonly Operation[]): readonly Operation[] {
  return operations
    .filter(({ path, group }) => path.startsWith(catalogPrefix) && group !== 'Store')
    .filter((operation, _, all) => operation === shownAt(operation.path, all))
}

function shownAt(path: string, all: readonly Operation[]): Operation | undefined {
  const there = all.filter((operation) => operation.path === path)
  return there.find(({ body }) => body !== undefined) ?? there[0]
}

function resourceOf(site: Site, operation: Operation) {
  const { method, path, name, description, pathParams = {}, query = {}, headers, body } = operation
  const required = Object.keys(pathParams)
  const properties = { ...pathParams, ...schemasOf(query) }
  const fields = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
  const requiredHeaders = requiredOf(headers)
  return {
    url: `${site.url}${path}`,
    method,
    name,
    description,
    inputSchema: required.length > 0 ? fields : (body ?? fields),
    ...(requiredHeaders.length > 0 ? { requiredHeaders } : {}),
  }
}

function requiredOf(headers: Operation['headers'] = {}): string[] {
  return Object.keys(headers).filter((name) => headers[name]?.required)
}

function schemasOf(params: Params): object {
  return Object.fromEntries(Object.entries(params).map(([name, { schema }]) => [name, schema]))
}
