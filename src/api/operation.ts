import type {
  JWSSignedReceipt,
  OfferReceiptIssuer,
  ReceiptPayload,
} from '@x402/extensions/offer-receipt'
import type { EVMMessageVerifier } from '@x402/extensions/sign-in-with-x'
import * as z from 'zod'
import type { LiveCatalog } from '../catalog/catalog.ts'
import { goods } from '../catalog/kinds.ts'
import type { Kind } from '../catalog/offer.ts'
import type { Pricing } from '../catalog/pricing.ts'
import { type ParamSource, type Params, readParams } from '../catalog/search/params.ts'
import type { Health } from '../health/health.ts'
import type { Signals } from '../health/verdict.ts'
import type { Refusal, RefusalCode } from '../lib/refusal.ts'
import type { NoteShown } from '../orders/finding.ts'
import type { NonceStore, OrderStore } from '../orders/ports.ts'
import type { PurchaseDeps } from '../orders/purchase.ts'
import type { LimitsDeps } from '../orders/spending-limits/keep.ts'
import type { WebhookStore } from '../orders/webhooks/ports.ts'
import type { Network } from '../payments/networks.ts'
import type { Digest, Envelope, PublicJwk, Signer, SigningKeys, Vault } from '../secrets/secrets.ts'

/** The routes, the manifest, openapi.json, the tools of MCP and the pages for models come from it. */
export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly group: Group
  readonly name: string
  readonly description: string
  readonly pathParams?: Readonly<Record<string, object>>
  readonly query?: Params
  readonly needs?: readonly string[]
  readonly headers?: Readonly<Record<string, HeaderParam>>
  readonly body?: object
  readonly answers: Readonly<Record<number, AnswerShape>>
  /** Why it may refuse, besides what `refusalsOf` adds. */
  readonly refusals: readonly RefusalCode[]
  readonly limit?: 'discovery' | 'reading' | 'purchase'
  /** Whether its errors say in `charged` whether money moved. */
  readonly charges?: true
  /** What its caller must bring: nothing, a payment for goods of this kind, or a wallet's sign-in. */
  readonly access: 'free' | 'sign_in' | { readonly pays: Kind }
}

export const groups = ['Discovery', 'Catalog', 'Buying', 'Orders', 'Store'] as const
export type Group = (typeof groups)[number]

export interface HeaderParam {
  readonly schema: object
  readonly required?: true
}

interface AnswerShape {
  readonly description: string
  readonly shape: z.ZodType
  readonly headers?: Readonly<Record<string, string>>
}

export interface Reading extends Operation {
  /** @param id of the offer in the path */
  readonly ask: (paramSource: ParamSource, deps: ReadDeps, id?: string) => Published
}

export interface OrderOperation extends Operation {
  readonly run: (call: Call, deps: BuyingDeps) => Promise<Answer>
}

export interface StoreOperation extends Operation {
  readonly cacheControl: string
  /** Where it is served if the store is published at a path below its host. Absent: at its own path. */
  readonly servedAt?: (site: Site) => string
  readonly run: (
    deps: StoreDeps,
    caller: { readonly isOperator: boolean },
  ) => { readonly body: object; readonly status?: number }
}

export interface Call {
  readonly orderId: string
  readonly query: ParamSource
  /** The flat fields of the body, or of the query for a quote. @throws Refusal if they cannot be read */
  readonly fields: () => Readonly<Record<string, unknown>>
  /** @throws Refusal `invalid_header` */
  readonly readCredentials: () => Credentials
  readonly signIn: Credentials['signIn']
  readonly client: string
  readonly proofs: ProofLimit
}

export interface Credentials {
  readonly accessToken?: string | undefined
  readonly signIn?: string | string[] | undefined
  /** Checked by `keyOf`. */
  readonly idempotencyKey?: string | undefined
}

/** Limits failed proofs of a client, and look-ups of eSIMs that are not theirs, which count the same. */
export interface ProofLimit {
  readonly mayProve: () => Promise<Refusal | undefined>
  readonly provedNothing: () => Promise<void>
}

export type Answer =
  | {
      readonly body: object
      readonly status?: 202
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly signIn: SignInScope }

export interface ReadDeps {
  readonly liveCatalog: LiveCatalog
  readonly pricing: Pricing
  readonly site: Site
  /** That purchases are paid on. */
  readonly network: Pick<Network, 'id' | 'name' | 'usdc'>
  /** Whether coins are taken at the moment, if at all. Without it they always are. */
  readonly takesCoins?: (() => boolean) | undefined
}

/** What people and agents pay with at the moment: what the store takes, without what the operator has paused. */
export function paymentsTaken({ site, pricing }: Pick<ReadDeps, 'site' | 'pricing'>) {
  const { pausesMethod } = pricing.rules()
  return {
    coins: site.acceptsCrypto.filter((coin) => !pausesMethod(coin)),
    takesUsdc: !pausesMethod('x402'),
  }
}

export interface SignInDeps {
  readonly site: Site
  /** CAIP-2. */
  readonly network: string
  readonly nonces: NonceStore
  /** Marks a nonce as ours, so that nothing is stored before somebody signs. */
  readonly nonceMark: Digest
  /** Checks a message of a smart wallet on the chain; wallets with a key are checked without. */
  readonly verifyMessage: EVMMessageVerifier
  readonly now: () => Date
}

export interface SignInScope {
  readonly path: string
  readonly description: string
  /** Wallets show it to the signer (EIP-4361): printable ASCII on one line. */
  readonly statement: string
}

export interface PaymentRequiredDeps {
  readonly site: Site
  readonly issuer: Issuer
  readonly signals: () => Signals
  readonly fulfillmentDeadlineSeconds: number
}

export interface Issuer extends Pick<OfferReceiptIssuer, 'issueOffer'> {
  signReceipt(payload: ReceiptPayload): Promise<JWSSignedReceipt>
}

export interface BuyingDeps {
  readonly site: Site
  readonly demands: PaymentRequiredDeps
  readonly receipts: ReceiptDeps
  readonly purchases: PurchaseDeps
  readonly orders: OrderStore
  readonly webhooks: Pick<WebhookStore, 'find' | 'redeliver'>
  readonly guardrails: LimitsDeps
  readonly signIn: SignInDeps
  /** Signs the links that show the goods of an order once. */
  readonly reveals: Signer
  /** Seals purchases into addresses. */
  readonly envelope: Envelope
}

export interface ReceiptDeps {
  readonly site: Site
  readonly vault: Vault
  readonly keys: SigningKeys
  /** Makes the salt of an order, so that it need not be stored. */
  readonly salts: Pick<Digest, 'of'>
  readonly noteShown: NoteShown
  readonly now: () => Date
}

export interface StoreDeps {
  readonly site: Site
  readonly keys: { readonly published: readonly PublicJwk[] }
  readonly health: Pick<Health, 'parts' | 'signals' | 'isSelling'>
  readonly fulfillmentDeadlineSeconds: number
  readonly draining: AbortSignal
  readonly operations: readonly Operation[]
}

export interface Site {
  readonly name: string
  readonly description: string
  readonly url: string
  readonly logo: string
  /** The colour of the website, `#rrggbb`; absent: ours. */
  readonly color?: string | undefined
  readonly terms?: { readonly url: string } | { readonly text: string } | undefined
  readonly contact: string
  readonly acceptsCrypto: readonly string[]
  /** Whether a store in live mode only rehearses, with money that is not real. */
  readonly isRehearsal?: boolean | undefined
}

type ReadingSpec = Pick<Reading, 'id' | 'path' | 'name' | 'description' | 'answers' | 'ask'> &
  Partial<Pick<Reading, 'query'>>

export function inDiscovery(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Discovery', limit: 'discovery' }
}

export function inCatalog(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Catalog', limit: 'reading' }
}

export function freely(spec: ReadingSpec) {
  const { query, ask } = spec
  const free = { ...spec, method: 'GET', access: 'free' } as const
  if (query !== undefined) return { ...free, refusals: refusesQuery }
  const strictly: Reading['ask'] = (paramSource, ...rest) => {
    readParams(paramSource, {})
    return ask(paramSource, ...rest)
  }
  return { ...free, refusals: refusesAnyQuery, ask: strictly }
}

/** An operation without parameters has none that could be repeated. */
const refusesAnyQuery = ['invalid_parameter', 'unknown_parameter'] as const
export const refusesQuery = [...refusesAnyQuery, 'repeated_parameter'] as const

/** Why an operation with a JSON body may refuse it unread. */
export const refusesBody = [
  'unknown_parameter',
  'invalid_json',
  'unsupported_media_type',
  'body_too_large',
] as const

export function refusalsOf({ refusals, pathParams, limit }: Operation): readonly RefusalCode[] {
  return [
    ...refusals,
    ...(pathParams === undefined ? [] : (['invalid_url', 'not_found'] as const)),
    ...(limit === undefined ? [] : (['rate_limited'] as const)),
  ]
}

export function answers(description: string, shape: z.ZodType): Operation['answers'] {
  return { 200: { description, shape } }
}

export type Published = Readonly<Record<string, unknown>>

/** Published fields: of each its shape and its value, so that neither is published without the other. */
export type Fields<From> = Readonly<
  Record<string, readonly [shape: z.ZodType, value: (from: From) => unknown]>
>

export function shapeOf(fields: Fields<never>, id?: string) {
  const shapes = Object.entries(fields).map(([name, [shape]]) => [name, shape])
  const shape = z.object(Object.fromEntries(shapes) as Readonly<Record<string, z.ZodType>>)
  return id === undefined ? shape : shape.meta({ id })
}

export function publish<F extends Fields<never>>(
  fields: F,
  from: Parameters<F[keyof F][1]>[0],
): { readonly [Name in keyof F]: ReturnType<F[Name][1]> } {
  const entries = Object.entries(fields as unknown as Fields<typeof from>)
  return Object.fromEntries(entries.map(([name, [, value]]) => [name, value(from)])) as {
    [Name in keyof F]: ReturnType<F[Name][1]>
  }
}

/** Amounts in the smallest units of an asset are texts, as they may exceed the numbers of JSON. */
export const atomic = z.string().regex(/^\d+$/)
export const time = z.iso.datetime()
export const transactionHash = z
  .string()
  .describe('Transaction hash on the network of the payment')
  .nullable()

export const catalogPrefix = '/api/catalog'
export const limitsPath = `${catalogPrefix}/limits`
export const manifestPath = '/.well-known/x402'
export const openApiPath = '/openapi.json'
export const skillPath = '/SKILL.md'
export const mcpPath = '/mcp'

export const discoveryPrefix = '/ai'
export const searchPath = `${discoveryPrefix}/search`

export function discoveryPath(kind: Kind): string {
  return `${discoveryPrefix}/${goods[kind].plural}`
}

export function catalogPath(kind: Kind): string {
  return `${catalogPrefix}/${goods[kind].plural}`
}

export function offerPath(kind: Kind, offerId: string): string {
  return `${catalogPath(kind)}/offers/${offerId}`
}

export function purchasePath(kind: Kind): string {
  return `${catalogPath(kind)}/purchase/info`
}

export function orderPath(orderId: string): string {
  return `${catalogPrefix}/orders/${orderId}`
}

export function receiptPath(orderId: string): string {
  return `${orderPath(orderId)}/receipt`
}

export function refundPath(orderId: string): string {
  return `${orderPath(orderId)}/refund`
}

export function buyPath(offerId: string): string {
  return `/buy/${encodeURIComponent(offerId)}`
}

export function titleOf(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
