import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { declarePaymentIdentifierExtension } from '@x402/extensions/payment-identifier'
import * as z from 'zod'
import { type FaceValue, faceValueFor } from '../../catalog/face-value.ts'
import { kindOf } from '../../catalog/good.ts'
import { goods } from '../../catalog/kinds.ts'
import type { Kind, Offer } from '../../catalog/offer.ts'
import { worthOf } from '../../catalog/offer-details.ts'
import { retailOf } from '../../catalog/pricing.ts'
import { type ExampleBody, exampleBody, type LineItem } from '../../catalog/purchase-body.ts'
import type { Signals } from '../../health/verdict.ts'
import { formatUsdc, type Usdc } from '../../lib/money.ts'
import { storePaused } from '../../orders/refusals.ts'
import type { Listing } from '../../payments/ports.ts'
import type { Accepts, Terms } from '../../payments/terms.ts'
import type { ReadDeps, Site } from '../deps.ts'
import {
  type Issuer,
  SignalsBlock,
  signalsExtension,
  signedOffers,
} from '../extensions/policies.ts'
import { discoveryPath } from '../paths.ts'

/** The published shapes of a demand for payment (x402, version 2). */

const extensions = z.record(z.string(), z.unknown())

export const PaymentTerms = z
  .object({
    scheme: z.literal('exact'),
    network: z.string().describe('CAIP-2: eip155:8453 is Base'),
    asset: z.string().describe('Contract address of USDC'),
    amount: z.string().regex(/^\d+$/).describe('Atomic USDC: 1 USDC is 1000000'),
    payTo: z.string(),
    maxTimeoutSeconds: z.int().describe('How long this price holds'),
    extra: z.object({
      name: z.string().describe('EIP-712 domain of the asset'),
      version: z.string(),
      quote: z.string().optional().describe('Our promise of this price; echo it'),
    }),
    extensions: z
      .object({ 'x402-signals': SignalsBlock })
      .optional()
      .describe('Delivery, refunds and health for this kind, in every 402'),
  })
  .meta({ id: 'PaymentTerms' })

const resource = z.object({
  url: z.url(),
  description: z.string(),
  mimeType: z.string(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.url().optional(),
})

/** The fields of every demand, including one for a sign-in. */
export const demandShape = {
  x402Version: z.literal(2),
  error: z.string(),
  resource,
  extensions,
}

/** The body of a 402 that asks for money; the header PAYMENT-REQUIRED has the same. */
export const PaymentRequiredAnswer = z
  .object({
    ...demandShape,
    accepts: z.array(PaymentTerms).min(1),
    code: z.string().optional().describe('Why the payment that was sent was not taken'),
    charged: z.literal('no'),
    message: z.string().describe('What to do, in a sentence'),
    bodySchema: z.looseObject({}).describe('JSON Schema of the body that buys this'),
  })
  .meta({ id: 'PaymentRequired' })

/** Stock x402 clients silently refuse to pay more than this unless their limit is raised; atomic USDC. */
const stockSpendLimitAtomic = 1_000_000n

/** The maximum bytes of a description: the demand is sent in a header, and some proxies have small header buffers. */
const maxDescription = 90

/** The dependencies of every demand. */
export interface PaymentRequiredDeps {
  readonly site: Site
  readonly issuer: Issuer
  readonly signals: () => Signals
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
}

/** How a transport names the resource, and how it takes payments. */
export interface PaymentTransport {
  /** The URI of the resource, as the x402 transport defines it. */
  readonly resource: (site: Site, kind: Kind) => string
  /** How a signed payment is sent: "send the same request with it in PAYMENT-SIGNATURE". */
  readonly howToSend: string
  /** What a caller can do if it cannot send the payment like this, in a sentence. */
  readonly otherwise?: (site: Site, kind: Kind, example: ExampleBody) => string
  /** How the transport is used to buy, for indexes of paid resources (x402's bazaar). */
  readonly discovery: (kind: Kind, example: ExampleBody) => Readonly<Record<string, unknown>>
}

export interface PaymentRequest {
  readonly kind: Kind
  readonly accepts: Accepts
  /** How long the price is valid, in seconds. */
  readonly validSeconds: number
  /** Why a payment is required, or required again. */
  readonly error: string
  readonly code?: string
  readonly description: string
  /** What is bought and for how much, in words; absent if the request named no offer. */
  readonly bought?: string
  /** The JSON Schema of the body that buys this. */
  readonly bodySchema: object
  /** Such a body. */
  readonly example: ExampleBody
}

/** A demand as defined by x402, and the fields that the store adds. */
export type RequiredPayment = Awaited<ReturnType<typeof paymentRequired>>

/**
 * The demand for a payment. Every demand is made here, so that a paused store never asks for money.
 *
 * @throws Refusal `store_paused`
 */
export async function paymentRequired(
  deps: PaymentRequiredDeps,
  transport: PaymentTransport,
  demand: PaymentRequest,
) {
  if (deps.signals().agent_action === 'stop') throw storePaused()
  const { kind, accepts, error, code, description, bodySchema } = demand
  const { site } = deps
  const required: PaymentRequired = {
    x402Version: 2,
    error,
    resource: resourceOf(site, transport, kind, description),
    accepts: accepts.map((terms) => withSignals(deps, kind, terms) as PaymentRequirements),
    extensions: await extensionsOf(deps, demand, transport),
  }
  const message = guidance(site, transport, demand)
  const why = code === undefined ? {} : { code }
  return { required, more: { message, ...why, charged: 'no' as const, bodySchema } }
}

/** Terms with the policies of the kind beside the price (x402-signals 5.1). Clients echo them unread. */
export function withSignals(
  { signals, fulfillmentDeadlineSeconds }: PaymentRequiredDeps,
  kind: Kind,
  terms: Terms,
) {
  return { ...terms, extensions: signalsExtension(kind, signals(), fulfillmentDeadlineSeconds) }
}

/** The resource that is paid for, as described to x402 clients and indexes. */
function resourceOf(site: Site, transport: PaymentTransport, kind: Kind, description: string) {
  return {
    url: transport.resource(site, kind),
    description: cut(description, maxDescription),
    mimeType: 'application/json',
    ...serviceNameOf(site),
    tags: [...goods[kind].words.tags],
  }
}

/** The extensions beside the terms, for clients that support them and for indexes. */
async function extensionsOf(
  deps: PaymentRequiredDeps,
  { kind, accepts, validSeconds, example }: PaymentRequest,
  { discovery, resource }: PaymentTransport,
): Promise<Record<string, unknown>> {
  const { site, issuer } = deps
  return {
    'payment-identifier': paymentIdentifier,
    ...discovery(kind, example),
    ...(await signedOffers(issuer, resource(site, kind), accepts, validSeconds)),
  }
}

/** The name as indexes accept it: at most 32 characters of printable ASCII; absent if none is left. */
function serviceNameOf({ name }: Site): { serviceName?: string } {
  const serviceName = name.replace(/[^\x20-\x7e]/g, '').slice(0, 32)
  return serviceName === '' ? {} : { serviceName }
}

/** The package's declaration with a shorter, equivalent schema. */
const paymentIdentifier = {
  ...declarePaymentIdentifierExtension(false),
  schema: {
    type: 'object',
    properties: { id: { type: 'string', pattern: '^[a-zA-Z0-9_-]{16,128}$' } },
  },
}

function guidance(
  site: Site,
  { howToSend, otherwise }: PaymentTransport,
  { kind, accepts, error, bought, example }: PaymentRequest,
): string {
  const [terms] = accepts
  const dollars = (Number(terms.amount) / 1_000_000).toFixed(2)
  const how = `Sign the x402 payment in accepts[0] (${dollars} USDC, scheme exact) and ${howToSend}.`
  const limit =
    BigInt(terms.amount) > stockSpendLimitAtomic
      ? ' Stock x402 clients refuse payments over 1 USD until their own spend limit is raised.'
      : ''
  const what = bought === undefined ? '' : `: ${bought}`
  const orElse = otherwise === undefined ? '' : ` ${otherwise(site, kind, example)}`
  return `${error.replace(/\.$/, '')}${what}. ${how}${limit}${orElse}`
}

/** As many whole characters of a text as fit in this many bytes of UTF-8. */
function cut(text: string, maxBytes: number): string {
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString()
    .replace(/\ufffd+$/, '')
}

/**
 * What an index learns about a purchase route after a purchase: the same as when it calls the route itself. It contains
 * nothing about the buyer or the purchase.
 *
 * @returns undefined while no good of the kind is sold
 */
export function listingOf(
  deps: ReadDeps,
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

/** What a purchase route sells, in a sentence. */
export function routeDescription({ url }: Pick<Site, 'url'>, kind: Kind): string {
  const { article, noun } = goods[kind].words
  return `Buy ${article} ${noun}. Find its offerId at ${url}${discoveryPath(kind)}`
}

/** A body that buys the first offer of the kind: an index may try it. */
export function exampleOf(
  { liveCatalog, pricing }: Pick<ReadDeps, 'liveCatalog' | 'pricing'>,
  kind: Kind,
): ExampleBody {
  const { offers } = liveCatalog.current().sold[kind].search({}, { offset: 0, limit: 1 })
  const [offer] = offers as [Offer]
  return exampleBody(offer, retailOf(offer, pricing))
}

/**
 * What is bought and for how much, in words, so that a model that mistook a unit, or a person who approves, notices:
 * "value 25 = a 25.00 USD Amazon card (US) for 25.00 USDC".
 */
export function purchaseSentence(offer: Offer, lineItem: LineItem, amount: Usdc): string {
  const { value, recipient } = lineItem
  const chosen = value === undefined ? '' : `value ${value / 100} = `
  const good = kindOf(offer).inWords(wordsOf(offer, value), recipient)
  return `${chosen}${good} for ${formatUsdc(amount)} USDC`
}

function wordsOf(offer: Offer, value: LineItem['value']) {
  const { brandName, country, shortNotes } = offer
  const face = faceValueFor(worthOf(offer), value)
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
