import type { FastifyInstance } from 'fastify'
import { retryAfterSeconds } from '../desk/buying/orders.ts'
import type { Operation } from '../desk/operation.ts'
import { operations } from '../desk/operations.ts'
import type { Params } from '../desk/params.ts'
import { catalogPrefix, orderPath, refundPath } from '../desk/paths.ts'
import type { Site } from '../desk/site.ts'
import { manifests } from '../desk/store-operations.ts'
import { refundDeadlineSeconds } from '../desk/views/refund.ts'
import type { Signals } from '../health/signals.ts'

export interface ManifestDeps {
  readonly site: Site
  readonly signals: () => Signals
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
}

/** The manifest, at the two addresses where it is looked for (decisions 5). */
export function routeManifest(app: FastifyInstance, deps: ManifestDeps): void {
  for (const { path } of manifests) {
    // Signals older than five minutes count as down, so no cache may keep them for long.
    app.get(path, { config: { limit: 'reading' } }, (_, reply) =>
      reply.header('cache-control', 'public, max-age=15').send(manifest(deps)),
    )
  }
}

/** The published manifest (service.md, Resources; x402-signals 4 and 5). */
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
    fulfillment_policy: {
      version: '0.2',
      mode: 'instant',
      fulfillment_deadline_seconds: fulfillmentDeadlineSeconds,
      status_endpoint: orderPath('{orderId}'),
      retry_after_seconds: retryAfterSeconds,
    },
    refund_policy: refundPolicy,
    signals: signals(),
    resources,
  }
}

const automatic = { type: 'automatic' }

/**
 * `conditional` is the published word. It stands outside the vocabulary of x402-signals, so the
 * rule for each outcome and each kind stands beside it for readers that only know that one.
 */
const refundPolicy = {
  version: '0.2',
  mode: 'instant',
  type: 'conditional',
  triggers: ['fulfillment_failed', 'upstream_timeout', 'expired'],
  refund_to: 'original_payer',
  refund_endpoint: refundPath('{orderId}'),
  refund_deadline_seconds: refundDeadlineSeconds,
  refund_claim_deadline_seconds: null,
  partial_refunds_supported: false,
  idempotency_required: true,
  compensating_actions_optional: false,
  refund_policy_by_state: {
    FULFILLED: { type: 'none' },
    FULFILLMENT_FAILED: { ...automatic, triggers: ['fulfillment_failed', 'upstream_timeout'] },
    EXPIRED: { ...automatic, triggers: ['expired'] },
  },
  refund_policy_by_product: {
    esim: automatic,
    topup: { ...automatic, note: 'A topup credited to the handset is not refundable.' },
    voucher: {
      type: 'none',
      note: 'A voucher code is not refundable once issued. Until then a failed order is refunded automatically.',
    },
  },
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
  return listed.map(({ path, name, description, pathParams = {}, query = {}, body }) => {
    const required = Object.keys(pathParams)
    const properties = { ...pathParams, ...schemasOf(query) }
    const fields = { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
    const inputSchema = required.length > 0 ? fields : (body ?? fields)
    return { url: `${site.url}${path}`, name, description, inputSchema }
  })
}

function schemasOf(params: Params): object {
  return Object.fromEntries(Object.entries(params).map(([name, { schema }]) => [name, schema]))
}
