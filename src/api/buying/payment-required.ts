import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import {
  createJWS,
  createJWSOfferReceiptIssuer,
  OFFER_RECEIPT,
} from '@x402/extensions/offer-receipt'
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier'
import * as z from 'zod'
import { type FaceValue, faceValueFor } from '../../catalog/face-value.ts'
import type { KindDefinition } from '../../catalog/kinds/kind.ts'
import { goods } from '../../catalog/kinds.ts'
import { byKind, type Kind, kindOf, type Offer, worthOf } from '../../catalog/offer.ts'
import { retailOf, storePaused } from '../../catalog/pricing.ts'
import {
  type ExampleBody,
  exampleBody,
  fieldsOfEveryPurchase,
  kindSchemaFor,
  type LineItem,
} from '../../catalog/purchase-body.ts'
import { formatUsdc, type Usdc } from '../../lib/money.ts'
import type { Listing } from '../../payments/payment.ts'
import type { Terms } from '../../payments/terms.ts'
import type { SigningKeys } from '../../secrets/secrets.ts'
import {
  atomic,
  discoveryPath,
  type Fields,
  type Issuer,
  orderPath,
  type PaymentRequiredDeps,
  publish,
  type ReadDeps,
  refundPath,
  type Site,
  shapeOf,
} from '../operation.ts'

/** Seconds between two looks at an order (x402-signals 4.1). */
export const retryAfterSeconds = 5

/** A refund is sent within this time of the failure; seconds. */
export const refundDeadlineSeconds = 86_400

const policyVersion = [z.string(), () => '0.2'] as const
const policyMode = [z.string(), () => 'instant'] as const

/** How goods are delivered (x402-signals 4.1), with the seconds from payment to `EXPIRED`. */
const fulfillment = {
  version: policyVersion,
  mode: policyMode,
  fulfillment_deadline_seconds: [z.int(), (seconds) => seconds],
  status_endpoint: [z.string(), () => orderPath('{orderId}')],
  retry_after_seconds: [z.int(), () => retryAfterSeconds],
} satisfies Fields<number>

const automatic = { type: 'automatic' }
const PolicyType = z.looseObject({ type: z.string() })

/** x402-signals 4.2. `conditional`, of the whole store, is not in its vocabulary. */
const refund = {
  version: policyVersion,
  mode: policyMode,
  type: [z.string(), (type) => type],
  triggers: [z.array(z.string()), () => ['fulfillment_failed', 'upstream_timeout', 'expired']],
  refund_to: [z.string(), () => 'original_payer'],
  refund_endpoint: [z.string(), () => refundPath('{orderId}')],
  refund_deadline_seconds: [z.int(), () => refundDeadlineSeconds],
  refund_claim_deadline_seconds: [z.int().nullable(), () => null],
  partial_refunds_supported: [z.boolean(), () => false],
  idempotency_required: [z.boolean(), () => true],
  compensating_actions_optional: [z.boolean(), () => false],
  refund_policy_by_state: [
    z.record(z.string(), PolicyType),
    () => ({
      FULFILLED: { type: 'none' },
      FULFILLMENT_FAILED: { ...automatic, triggers: ['fulfillment_failed', 'upstream_timeout'] },
      EXPIRED: { ...automatic, triggers: ['expired'] },
    }),
  ],
} satisfies Fields<string>

const SignalsShape = z
  .object({
    provider_health: z.enum(['healthy', 'degraded', 'down']),
    agent_action: z.enum(['pay', 'retry_later', 'stop']),
    last_updated: z.iso.datetime(),
    reason: z.string().optional().describe('While the operator has paused sales'),
  })
  .meta({ id: 'Signals' })

type PolicyDeps = Pick<PaymentRequiredDeps, 'signals' | 'fulfillmentDeadlineSeconds'>

const fulfillmentPolicy = [
  shapeOf(fulfillment, 'FulfillmentPolicy'),
  (deps: PolicyDeps) => publish(fulfillment, deps.fulfillmentDeadlineSeconds),
] as const
const signals = [SignalsShape, (deps: PolicyDeps) => deps.signals()] as const

export const storePolicies = {
  fulfillment_policy: fulfillmentPolicy,
  refund_policy: [
    shapeOf(refund).extend({ refund_policy_by_product: z.record(z.string(), PolicyType) }),
    () => ({ ...publish(refund, 'conditional'), refund_policy_by_product: refundByKind }),
  ],
  signals,
} satisfies Fields<PolicyDeps>

const refundByKind = byKind((kind) => {
  const { refund, refundNote: note }: KindDefinition = goods[kind]
  return { type: refund, ...(note === undefined ? {} : { note }) }
})

/** Complete, as it takes precedence over the manifest (x402-signals 5.1). */
const kindPolicies = {
  fulfillment_policy: fulfillmentPolicy,
  refund_policy: [shapeOf(refund), ({ kind }) => publish(refund, goods[kind].refund)],
  signals,
} satisfies Fields<PolicyDeps & { readonly kind: Kind }>

export const PaymentTerms = z
  .object({
    scheme: z.literal('exact'),
    network: z.string().describe('CAIP-2: eip155:8453 is Base'),
    asset: z.string().describe('Contract address of USDC'),
    amount: atomic.describe('Atomic USDC: 1 USDC is 1000000'),
    payTo: z.string(),
    maxTimeoutSeconds: z.int().describe('How long this price holds'),
    extra: z.object({
      name: z.string().describe('EIP-712 domain of the asset'),
      version: z.string(),
      quote: z.string().optional().describe('Our promise of this price; echo it'),
    }),
    extensions: z
      .object({ 'x402-signals': shapeOf(kindPolicies, 'SignalsBlock') })
      .optional()
      .describe('Delivery, refunds and health for this kind, in every 402'),
  })
  .meta({ id: 'PaymentTerms' })

export const demandShape = {
  x402Version: z.literal(2),
  error: z.string(),
  resource: z.object({
    url: z.url(),
    description: z.string(),
    mimeType: z.string(),
    serviceName: z.string().optional(),
    tags: z.array(z.string()).optional(),
    iconUrl: z.url().optional(),
  }),
  extensions: z.record(z.string(), z.unknown()),
}

export const payableUrlShape = z
  .url()
  .optional()
  .describe(
    'This purchase as an address: any x402 client pays it by GET or POST, without a body. It buys once, until validUntil. Absent where the fields make it longer than 1,200 characters, and from a 402 that has no room for it: a quote has it',
  )

export const PaymentRequiredAnswer = z
  .object({
    ...demandShape,
    accepts: z.array(PaymentTerms).min(1),
    code: z.string().optional().describe('Why the payment that was sent was not taken'),
    charged: z.literal('no'),
    message: z.string().describe('What to do, in a sentence'),
    bodySchema: z
      .looseObject({})
      .optional()
      .describe('Of a call without a body: what one must have. The record of an offer says more'),
    payableUrl: payableUrlShape,
  })
  .meta({ id: 'PaymentRequired' })

export interface PaymentTransport {
  readonly resource: (site: Site, kind: Kind) => string
  /** Whether another idempotency key says that another purchase is meant. */
  readonly keysTellPurchases: boolean
  /** The address that holds the whole purchase. It is not in offers and receipts, which are shown to others. */
  readonly address?: string
  /** How a signed payment is sent: "send the same request with it in PAYMENT-SIGNATURE". */
  readonly howToSend: string
  /** What a caller can do if it cannot send the payment like this, in a sentence. */
  readonly otherwise?: (site: Site, example: ExampleBody) => string
  readonly discovery: (kind: Kind, example: ExampleBody) => Readonly<Record<string, unknown>>
}

export interface PaymentRequest {
  readonly kind: Kind
  readonly accepts: readonly [Terms]
  readonly validSeconds: number
  readonly error: string
  readonly code?: string
  readonly description: string
  readonly bought?: string
  /** What a body must have, for a call without one. It names nothing that could be paid for. */
  readonly bodySchema?: object
  readonly payableUrl?: string | undefined
  readonly example: ExampleBody
}

/** Characters, which are 900 tokens: models read a demand whole. */
const maxBody = 3_600

/** Made in one place, so that a paused store never asks for money. @throws Refusal `store_paused` */
export async function paymentRequired(
  deps: PaymentRequiredDeps,
  transport: PaymentTransport,
  demand: PaymentRequest,
) {
  if (deps.signals().agent_action === 'stop') throw storePaused()
  const { kind, accepts, error, code, description, bodySchema, payableUrl, example } = demand
  const { site, issuer } = deps
  const resource = resourceOf(site, transport, kind, description)
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource,
    accepts: accepts.map((terms) => withSignals(deps, kind, terms) as PaymentRequirements),
    extensions: {
      'payment-identifier': paymentIdentifier,
      ...transport.discovery(kind, example),
      ...(await signedOffers(issuer, resource.url, demand)),
    },
  }
  const message = guidance(site, transport, demand)
  const why = code === undefined ? {} : { code }
  const more = { message, ...why, charged: 'no' as const, bodySchema }
  const spare = maxBody - JSON.stringify({ ...required, ...more, payableUrl: '' }).length
  const fitting = (url: string | undefined) => (url && url.length <= spare ? url : undefined)
  const url = fitting(transport.address) ?? resource.url
  return {
    required: { ...required, resource: { ...resource, url } },
    more: { ...more, payableUrl: fitting(payableUrl) },
  }
}

/** Terms with the policies of the kind beside the price (x402-signals 5.1). Clients echo them unread. */
export function withSignals(deps: PaymentRequiredDeps, kind: Kind, terms: Terms) {
  return { ...terms, extensions: { 'x402-signals': publish(kindPolicies, { ...deps, kind }) } }
}

/** The maximum bytes of a description: the demand is sent in a header, and some proxies have small header buffers. */
const maxDescription = 90

function resourceOf(site: Site, transport: PaymentTransport, kind: Kind, description: string) {
  // Indexes accept at most 32 characters of printable ASCII, and no empty name.
  const serviceName = site.name.replace(/[^\x20-\x7e]/g, '').slice(0, 32)
  return {
    url: transport.resource(site, kind),
    description: cut(description, maxDescription),
    mimeType: 'application/json',
    ...(serviceName === '' ? {} : { serviceName }),
    iconUrl: site.logo,
    tags: [...goods[kind].words.tags],
  }
}

function cut(text: string, maxBytes: number): string {
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString()
    .replace(/\ufffd+$/, '')
}

/** The package's declaration with a shorter, equivalent schema. */
const paymentIdentifier = {
  ...declarePaymentIdentifierExtension(false),
  schema: {
    type: 'object',
    properties: { id: { type: 'string', pattern: '^[a-zA-Z0-9_-]{16,128}$' } },
    required: ['required'],
  },
}

/** Stock x402 clients silently refuse to pay more than this unless their limit is raised; atomic USDC. */
const stockSpendLimitAtomic = 1_000_000n

function guidance(
  site: Site,
  { howToSend, otherwise }: PaymentTransport,
  { kind, accepts, error, bought, bodySchema, example }: PaymentRequest,
): string {
  if (bodySchema !== undefined)
    return `Name an offerId for a price; this is the lowest of any ${kind}.`
  const [terms] = accepts
  const dollars = (Number(terms.amount) / 1_000_000).toFixed(2)
  const how = `Sign the x402 payment in accepts[0] (${dollars} USDC, scheme exact) and ${howToSend}.`
  const limit =
    BigInt(terms.amount) > stockSpendLimitAtomic
      ? ' Stock x402 clients refuse payments over 1 USD until their own spend limit is raised.'
      : ''
  const what = bought === undefined ? '' : `: ${bought}`
  const orElse = otherwise === undefined ? '' : ` ${otherwise(site, example)}`
  return `${error.replace(/\.$/, '')}${what}. ${how}${limit}${orElse}`
}

/** Names nothing of the buyer. Undefined while no good of the kind is sold. */
export function listingOf(
  deps: Omit<ReadDeps, 'network'>,
  transport: PaymentTransport,
  kind: Kind,
): Listing | undefined {
  const { site, liveCatalog } = deps
  if (liveCatalog.current().sold[kind].size === 0) return undefined
  return {
    resource: resourceOf(site, transport, kind, routeDescription(site, kind)),
    extensions: transport.discovery(kind, exampleOf(deps, kind)),
  }
}

export function routeDescription({ url }: Pick<Site, 'url'>, kind: Kind): string {
  const { article, noun } = goods[kind].words
  return `Buy ${article} ${noun}. Find its offerId at ${url}${discoveryPath(kind)}`
}

/** Buys the first offer of the kind, as an index may try it. */
export function exampleOf(
  { liveCatalog, pricing }: Pick<ReadDeps, 'liveCatalog' | 'pricing'>,
  kind: Kind,
): ExampleBody {
  const { offers } = liveCatalog.current().sold[kind].search({}, { offset: 0, limit: 1 })
  const [offer] = offers as [Offer]
  return exampleBody(offer, retailOf(offer, pricing))
}

/** "value 25 = a 25.00 USD Amazon card (US) for 25.00 USDC": whoever mistook a unit notices. */
export function purchaseSentence(offer: Offer, lineItem: LineItem, amount: Usdc): string {
  const { value, recipient } = lineItem
  const chosen = value === undefined ? '' : `value ${value / 100} = `
  const face = faceValueFor(worthOf(offer), value)
  const good = kindOf(offer).inWords(offerWords({ ...offer, face }), recipient)
  return `${chosen}${good} for ${formatUsdc(amount)} USDC`
}

export function offerWords({
  brandName,
  country,
  shortNotes,
  face,
}: Pick<Offer, 'brandName' | 'shortNotes'> & {
  readonly country?: string | undefined
  readonly face: FaceValue | undefined
}) {
  return {
    face: face?.isExact ? `${amountOf(face)} ` : '',
    worth: face === undefined || face.isExact ? '' : ` worth about ${amountOf(face)}`,
    brandName,
    place: country === undefined ? '' : ` (${country})`,
    notes: shortNotes === undefined ? '' : `, ${shortNotes.replace(/\.$/, '')},`,
  }
}

function amountOf({ amount, divisor, currency }: FaceValue): string {
  const decimals = Math.round(Math.log10(divisor))
  return `${(amount / divisor).toFixed(decimals)} ${currency}`
}

/** The package's hooks for the stock server omit the transaction and sign each repeat anew. */
export function createIssuer(site: Site, { current: { kid, sign } }: SigningKeys): Issuer {
  const signer = {
    ...{ kid: `${didOf(site)}#${kid}`, format: 'jws' as const, algorithm: 'EdDSA' },
    sign: async (bytes: Uint8Array) => sign(bytes),
  }
  const { issueOffer } = createJWSOfferReceiptIssuer(signer.kid, signer)
  return {
    issueOffer,
    signReceipt: async (payload) => ({
      format: 'jws',
      signature: await createJWS(payload, signer),
    }),
  }
}

/** The signed terms of a 402, with which a buyer can prove later what was asked of them. */
async function signedOffers(
  issuer: Issuer,
  resourceUrl: string,
  { accepts, validSeconds: offerValiditySeconds }: PaymentRequest,
) {
  const offers = await Promise.all(
    accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex) =>
      issuer.issueOffer(resourceUrl, {
        ...{ acceptIndex, scheme, network, asset, payTo, amount, offerValiditySeconds },
      }),
    ),
  )
  // The package's schemas are ten times as long; the signed content needs no description.
  return { [OFFER_RECEIPT]: { info: { offers }, schema: { type: 'object', required: ['offers'] } } }
}

/** x402 Bazaar. The package's own declaration is too long for a header, and lacks the method. */
export function bazaarOf(kind: Kind, example: ExampleBody): { readonly bazaar: object } {
  return {
    bazaar: {
      info: { input: { type: 'http', method: 'POST', bodyType: 'json', body: example } },
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          input: {
            type: 'object',
            properties: {
              type: { const: 'http' },
              method: { enum: ['POST'] },
              bodyType: { enum: ['json'] },
              body: shortSchemaOf(kind),
            },
            required: ['type', 'method', 'bodyType', 'body'],
            additionalProperties: false,
          },
          // x402scan wants it named.
          output: { properties: { example: {} } },
        },
        required: ['input'],
      },
    },
  }
}

/** Without texts and patterns: it has to fit in a header, twice (docs/agents/receipts.md). */
function shortSchemaOf(kind: Kind) {
  const { properties, required } = kindSchemaFor(kind)
  const fields = Object.entries(properties as Record<string, { readonly type: string }>).filter(
    ([name]) => !fieldsOfEveryPurchase.includes(name),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, { type }]) => [name, { type }])),
    required,
  }
}

export function didOf({ url }: Site): string {
  const { host, pathname } = new URL(url)
  const parts = [host, ...pathname.split('/').filter((part) => part !== '')]
  return ['did', 'web', ...parts.map(encodeURIComponent)].join(':')
}
