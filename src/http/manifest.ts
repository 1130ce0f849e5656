import type { FastifyInstance } from 'fastify'
import * as z from 'zod'
import { kinds } from '../goods/good.ts'
import type { Kind } from '../goods/offer.ts'
import { kindSchemaFor } from '../goods/purchase-body.ts'
import type { Signals } from '../health/signals.ts'
import { LimitsBody } from '../orders/limits/body.ts'
import { limitsPath } from './catalog/limits.ts'
import { orderPath, retryAfterSeconds } from './catalog/orders.ts'
import { browseSchemas, page } from './catalog/schemas.ts'
import { purchasePath } from './paywall.ts'
import type { Site } from './site.ts'
import { refundDeadlineSeconds, refundPath } from './views/refund.ts'

export interface ManifestDeps {
  readonly site: Site
  readonly signals: () => Signals
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
}

/** The manifest, at the two addresses where it is looked for (decisions 5). */
export function routeManifest(app: FastifyInstance, deps: ManifestDeps): void {
  for (const path of ['/.well-known/x402', '/api/catalog']) {
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

const orderId = { orderId: { type: 'string', description: 'From any purchase answer' } }

const orderResources = [
  resource(
    '/api/catalog/esims/orders/info',
    'List eSIM orders',
    'Order history of the wallet that signs in (sign-in-with-x).',
    { ...page },
  ),
  resource(
    '/api/catalog/orders',
    'List orders',
    'Orders of the wallet that signs in, or one by transactionHash or paymentId.',
    { transactionHash: { type: 'string' }, paymentId: { type: 'string' }, ...page },
  ),
  resource(
    orderPath('{orderId}'),
    'Order status',
    'Poll the fulfillment status of any order.',
    orderId,
    ['orderId'],
  ),
  resource(
    refundPath('{orderId}'),
    'Refund',
    'Claim or watch the refund of an order that failed; needs Idempotency-Key.',
    orderId,
    ['orderId'],
  ),
  resource(
    limitsPath,
    'Limits of a wallet',
    'What the wallet that signs in (sign-in-with-x) lets itself buy: GET shows, PUT sets, DELETE lifts.',
    z.toJSONSchema(LimitsBody, { io: 'input' }).properties ?? {},
  ),
]

const purchaseTexts: Readonly<Record<Kind, readonly [name: string, description: string]>> = {
  voucher: ['Purchase a voucher', 'Buy a gift voucher. Paid with x402; GET quotes, POST buys.'],
  topup: [
    'Purchase a topup',
    'Send airtime or data to a number. Paid with x402; GET quotes, POST buys.',
  ],
  esim: [
    'Purchase an eSIM',
    'Buy an eSIM plan; answers ICCID and QR code. Paid with x402; GET quotes, POST buys.',
  ],
}

function resourcesOf(site: Site) {
  const browsing = browseSchemas.map(({ path, name, description, properties, required }) =>
    resource(path, name, description, properties, required),
  )
  const buying = kinds.map((kind) => {
    const [name, description] = purchaseTexts[kind]
    return { url: purchasePath(kind), name, description, inputSchema: kindSchemaFor(kind) }
  })
  return [...browsing, ...buying, ...orderResources].map((entry) => ({
    ...entry,
    url: `${site.url}${entry.url}`,
  }))
}

function resource(
  url: string,
  name: string,
  description: string,
  properties: object,
  required: readonly string[] = [],
) {
  return {
    url,
    name,
    description,
    inputSchema: { type: 'object', properties, ...(required.length > 0 ? { required } : {}) },
  }
}
