import * as z from 'zod'
import type { Parts } from '../health/verdict.ts'
import type { PublicJwk } from '../secrets/secrets.ts'
import { didOf, storePolicies } from './buying/payment-required.ts'
import {
  answers,
  catalogPrefix,
  type Fields,
  manifestPath,
  type Operation,
  publish,
  type Site,
  type StoreDeps,
  type StoreOperation,
  shapeOf,
} from './operation.ts'

/** The published manifest (x402-signals v0.2, sections 4 and 5). */
const manifestFields = {
  x402Version: [z.literal(2), () => 2],
  version: [z.literal(1), () => 1],
  name: [z.string(), ({ site }) => site.name],
  description: [z.string(), ({ site }) => site.description],
  url: [z.url(), ({ site }) => site.url],
  logo: [z.url(), ({ site }) => site.logo],
  contact: [z.string(), ({ site }) => site.contact],
  extensions: [
    z.object({
      bazaar: z.object({
        name: z.string(),
        description: z.string(),
        logo_url: z.url(),
        category: z.string(),
        provider_url: z.url(),
      }),
    }),
    ({ site: { name, description, logo: logo_url, url: provider_url } }) => ({
      bazaar: { name, description, logo_url, category: 'digital-goods', provider_url },
    }),
  ],
  ...storePolicies,
  resources: [
    z.array(
      z.object({
        url: z.string(),
        method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
        name: z.string(),
        description: z.string(),
        inputSchema: z.looseObject({ type: z.literal('object') }),
        requiredHeaders: z.array(z.string()).optional().describe('Without them it is refused'),
      }),
    ),
    ({ site, operations }) =>
      listedOperations(operations).map((operation) => resourceOf(site, operation)),
  ],
} satisfies Fields<ManifestDeps>

type ManifestDeps = Pick<StoreDeps, 'site' | 'operations' | 'fulfillmentDeadlineSeconds'> & {
  readonly signals: StoreDeps['health']['signals']
}

const manifest = {
  method: 'GET',
  group: 'Store',
  name: 'Manifest',
  description:
    'Who runs the store, every operation with the schema of its input, when goods come and when money goes back, and in signals whether to buy now. Read signals before each purchase: stop means that purchases are refused.',
  answers: answers('The manifest', shapeOf(manifestFields, 'Manifest')),
  refusals: [],
  limit: 'reading',
  access: 'free',
  // Signals older than five minutes count as down, so no cache may keep them for long.
  cacheControl: 'public, max-age=15',
  run: (deps) => ({ body: publish(manifestFields, { ...deps, signals: deps.health.signals }) }),
} satisfies Omit<StoreOperation, 'id' | 'path'>

export const manifests: readonly StoreOperation[] = [
  { ...manifest, id: 'manifest', path: manifestPath },
  { ...manifest, id: 'catalogManifest', path: catalogPrefix },
]

function listedOperations(operations: readonly Operation[]): readonly Operation[] {
  return operations
    .filter(({ path, group }) => path.startsWith(catalogPrefix) && group !== 'Store')
    .filter((operation, _, all) => operation === operationAt(operation.path, all))
}

function operationAt(path: string, all: readonly Operation[]): Operation | undefined {
  const there = all.filter((operation) => operation.path === path)
  return there.find(({ body }) => body !== undefined) ?? there[0]
}

function resourceOf(site: Site, operation: Operation) {
  const { method, path, name, description, pathParams = {}, query = {}, headers, body } = operation
  const required = Object.keys(pathParams)
  const schemas = Object.entries(query).map(([param, { schema }]) => [param, schema])
  const properties = { ...pathParams, ...Object.fromEntries(schemas) }
  const fields = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
  const requiredHeaders = Object.keys(headers ?? {}).filter((one) => headers?.[one]?.required)
  return {
    url: `${site.url}${path}`,
    method,
    name,
    description,
    inputSchema: required.length > 0 ? fields : (body ?? fields),
    ...(requiredHeaders.length > 0 ? { requiredHeaders } : {}),
  }
}

const LiveAnswer = z.object({ status: z.literal('ok') }).meta({ id: 'Live' })

const PartHealth = z
  .object({
    state: z.enum(['healthy', 'degraded', 'down']),
    detail: z
      .string()
      .optional()
      .describe('Why, in words; only for the operator, with METRICS_TOKEN as Bearer token'),
  })
  .meta({ id: 'PartHealth' })

const ReadyAnswer = z
  .object({
    status: z.enum(['ready', 'not_ready', 'draining']),
    parts: z.object({
      supplier: PartHealth,
      chain: PartHealth,
      database: PartHealth,
      catalog: PartHealth,
      refunds: PartHealth,
      gas: PartHealth,
      processor: PartHealth.optional().describe(
        'Where the website takes coins: the payment processor. While it is down, purchases in USDC go on',
      ),
      sales: PartHealth,
    }),
  })
  .meta({ id: 'Ready' })

const health = {
  method: 'GET',
  group: 'Store',
  refusals: [],
  access: 'free',
  cacheControl: 'no-store',
} as const

export const live: StoreOperation = {
  ...health,
  id: 'live',
  path: '/livez',
  name: 'Is the process alive',
  description: 'Answers as long as the process does.',
  answers: answers('It is', LiveAnswer),
  run: () => ({ body: { status: 'ok' } }),
}

export const ready: StoreOperation = {
  ...health,
  id: 'ready',
  path: '/readyz',
  name: 'Does the store take purchases',
  description:
    'The health of each part. With 503 purchases are refused until every part is back; then they go on by themselves.',
  answers: {
    200: { description: 'It does', shape: ReadyAnswer },
    503: { description: 'It does not; the parts say which is down', shape: ReadyAnswer },
  },
  // A store that is stopping is not ready, but still serves every request.
  run({ health: { isSelling, parts }, draining }, { isOperator }) {
    const status = draining.aborted ? 'draining' : isSelling() ? 'ready' : 'not_ready'
    const visibleParts = isOperator ? parts() : statesOf(parts())
    return { status: status === 'ready' ? 200 : 503, body: { status, parts: visibleParts } }
  },
}

/** The parts without their details, which have balances of the store and words of its suppliers and its database. */
function statesOf(parts: Parts) {
  return Object.fromEntries(Object.entries(parts).map(([part, { state }]) => [part, { state }]))
}

const Jwk = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().describe('The public key: 32 bytes in base64url'),
  kid: z.string().describe('The thumbprint of the key (RFC 7638)'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
})

export const JwkSet = z.object({ keys: z.array(Jwk) })

export const DidDocument = z.object({
  '@context': z.array(z.string()),
  id: z.string(),
  verificationMethod: z.array(
    z.object({
      id: z.string(),
      type: z.literal('JsonWebKey2020'),
      controller: z.string(),
      publicKeyJwk: Jwk,
    }),
  ),
  assertionMethod: z.array(z.string()),
})

const published = {
  method: 'GET',
  group: 'Store',
  refusals: [],
  limit: 'reading',
  access: 'free',
  // Short, because signatures by a new key cannot be verified before clients read the key.
  cacheControl: 'public, max-age=60',
} as const

export const keySets: readonly StoreOperation[] = [
  {
    ...published,
    id: 'jwks',
    path: '/.well-known/jwks.json',
    name: 'Keys',
    description: 'The public keys that check signed offers and receipts, as a JWK set (RFC 7517).',
    answers: answers('The keys', JwkSet),
    run: ({ keys }) => ({ body: { keys: [...keys.published] } }),
  },
  {
    ...published,
    id: 'did',
    path: '/.well-known/did.json',
    name: 'Keys, as did:web names them',
    description: 'The same keys as a DID document. A store below a path has it at /did.json there.',
    answers: answers('The document', DidDocument),
    servedAt: ({ url }) => (new URL(url).pathname === '/' ? '/.well-known/did.json' : '/did.json'),
    run: ({ site, keys }) => ({ body: didDocument(site, keys.published) }),
  },
]

function didDocument(site: Site, published: readonly PublicJwk[]): z.infer<typeof DidDocument> {
  const id = didOf(site)
  const methods = published.map((publicKeyJwk) => ({
    id: `${id}#${publicKeyJwk.kid}`,
    type: 'JsonWebKey2020' as const,
    controller: id,
    publicKeyJwk,
  }))
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  }
}
