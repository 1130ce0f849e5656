import * as z from 'zod'
import type { Kind } from '../catalog/offer.ts'
import { type ParamSource, type Params, readParams } from '../catalog/search/params.ts'
import type { Health } from '../health/health.ts'
import type { Refusal, RefusalCode } from '../lib/refusal.ts'
import type { PublicJwk } from '../secrets/secrets.ts'
import type { SignInAsk } from './buying/credentials.ts'
import type { BuyingDeps, FaultLog, ReadDeps, Site } from './deps.ts'

/**
 * One call of the API, described once: the routes, the manifest, openapi.json, the tools of MCP and the pages for
 * models are all made from it.
 */
export interface Operation {
  /** Its name for programs: `searchVouchers`. */
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Its path, with names in braces: `/api/catalog/orders/{orderId}`. */
  readonly path: string
  readonly group: Group
  /** Its name for people: "Search vouchers". */
  readonly name: string
  /** What it does, and what a caller should know before the first call; whole sentences. */
  readonly description: string
  /** JSON Schema of each name in the path. */
  readonly pathParams?: Readonly<Record<string, object>>
  readonly query?: Params
  /** Names in the query that must be given. */
  readonly needs?: readonly string[]
  readonly headers?: Readonly<Record<string, HeaderParam>>
  /** JSON Schema of the body. */
  readonly body?: object
  /** Its successful answers, by status. */
  readonly answers: Readonly<Record<number, AnswerShape>>
  /** Why it may refuse, besides what `refusalsOf` adds. */
  readonly refusals: readonly RefusalCode[]
  /** The rate limit of its calls; absent if they are not counted. */
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
  /** The descriptions of headers that matter to the caller, by name. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An operation that is free for anyone, and whose answer may be cached. */
export interface Reading extends Operation {
  /** @param id of the offer in the path */
  readonly ask: (given: ParamSource, deps: ReadDeps, id?: string) => Published
}

/** An operation about orders or prices. HTTP makes a route from it; MCP tools call the same functions. */
export interface OrderOperation extends Operation {
  readonly run: (call: Call, deps: BuyingDeps) => Promise<Answer>
}

/** An operation about the store itself, the same for every caller. */
export interface StoreOperation extends Operation {
  /** The `Cache-Control` of its answer. */
  readonly cacheControl: string
  /** Where it is served if the store is published at a path below its host. Absent: at its own path. */
  readonly servedAt?: (site: Site) => string
  readonly run: (
    deps: StoreDeps,
    caller: StoreCaller,
  ) => { readonly body: object; readonly status?: number }
}

/** Who asks about the store itself. */
interface StoreCaller {
  readonly isOperator: boolean
}

/** The dependencies of operations about the store itself. */
export interface StoreDeps {
  readonly site: Site
  readonly keys: { readonly published: readonly PublicJwk[] }
  readonly health: Pick<Health, 'parts' | 'signals'>
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
  /** Aborted when the store is told to stop. */
  readonly draining: AbortSignal
  /** All operations of the store. */
  readonly operations: readonly Operation[]
}

/** One call of an operation, as read by its transport. */
export interface Call {
  /** From the path; empty if the path names no order. */
  readonly orderId: string
  readonly query: ParamSource
  /**
   * The flat fields of the body, or of the query for a quote.
   *
   * @throws Refusal if they cannot be read
   */
  readonly fields: () => Readonly<Record<string, unknown>>
  /** The credentials of its caller. @throws Refusal `invalid_header` */
  readonly shown: () => Credentials
  /** Those of them whose form needs no check. */
  readonly tokens: Pick<Credentials, 'accessToken' | 'signIn'>
  /** The client address, as the limits count it. */
  readonly client: string
  readonly proofs: ProofLimit
  readonly log: FaultLog
}

/** The credentials of a call, as read by its transport. */
export interface Credentials {
  readonly accessToken?: string | undefined
  /** A signed sign-in message, in base64. */
  readonly signIn?: string | string[] | undefined
  /** Checked by `keyOf`. */
  readonly idempotencyKey?: string | undefined
}

/** Limits failed proofs of a client, and look-ups of eSIMs that are not theirs, which count the same. */
export interface ProofLimit {
  /** The refusal for a client whose proofs were refused too often. */
  readonly mayProve: () => Promise<Refusal | undefined>
  /** Counts a proof that was not accepted. */
  readonly provedNothing: () => Promise<void>
}

/** The answer to a call: a body, or a demand for a sign-in. */
export type Answer =
  | {
      readonly body: object
      /** 202 if it is still under way; absent: 200. */
      readonly status?: 202
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly signIn: SignInAsk }

/** What differs from one reading operation to the next. */
type ReadingSpec = Pick<Reading, 'id' | 'path' | 'name' | 'description' | 'answers' | 'ask'> &
  Partial<Pick<Reading, 'query'>>

/** An operation of the discovery interface, and of its limit. */
export function inDiscovery(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Discovery', limit: 'discovery' }
}

/** An operation that reads the catalog interface. */
export function inCatalog(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Catalog', limit: 'reading' }
}

/** An operation that is free. One without parameters refuses any. */
export function freely(spec: ReadingSpec) {
  const { query, ask } = spec
  const free = { ...spec, method: 'GET', access: 'free' } as const
  if (query !== undefined) return { ...free, refusals: refusesQuery }
  const strictly: Reading['ask'] = (given, ...rest) => {
    readParams(given, {})
    return ask(given, ...rest)
  }
  return { ...free, refusals: refusesAnyQuery, ask: strictly }
}

/** The refusals of a strictly read query. An operation without parameters has none that could be repeated. */
export const refusesQuery = [
  'invalid_parameter',
  'unknown_parameter',
  'repeated_parameter',
] as const
const refusesAnyQuery = ['invalid_parameter', 'unknown_parameter'] as const

/** All refusals of an operation: its own, those of its path, and that of its rate limit. */
export function refusalsOf({ refusals, pathParams, limit }: Operation): readonly RefusalCode[] {
  return [
    ...refusals,
    ...(pathParams === undefined ? [] : (['invalid_url', 'not_found'] as const)),
    ...(limit === undefined ? [] : (['rate_limited'] as const)),
  ]
}

/** The only answer of most operations: 200. */
export function answers(description: string, shape: z.ZodType): Operation['answers'] {
  return { 200: { description, shape } }
}

/** A published record. Fields that are undefined are absent from the JSON. */
export type Published = Readonly<Record<string, unknown>>

/** Published fields: of each its shape and its value, so that neither is published without the other. */
export type Fields<From> = Readonly<
  Record<string, readonly [shape: z.ZodType, value: (from: From) => unknown]>
>

export function shapesOf(fields: Fields<never>): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries(fields).map(([name, [shape]]) => [name, shape]))
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
