import type * as z from 'zod'
import type { Kind } from '../catalog/offer.ts'
import type { ParamSource } from '../catalog/search/param-source.ts'
import type { Params } from '../catalog/search/params.ts'
import type { Health } from '../health/health.ts'
import type { Refusal, RefusalCode } from '../lib/refusal.ts'
import type { PublicJwk } from '../secrets/signing-keys.ts'
import type { SignInAsk } from './buying/sign-in.ts'
import type { BuyingDeps, FaultLog, ReadDeps } from './deps.ts'
import type { Query } from './query.ts'
import type { Site } from './site.ts'

/**
 * Something that may be asked of the store, described once: the routes, the manifest, openapi.json,
 * the tools of MCP and the pages for models are all made of it.
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
  /** What it answers by status, when it does what was asked. */
  readonly answers: Readonly<Record<number, AnswerShape>>
  /** Why it may refuse, besides what `refusalsOf` adds. */
  readonly refusals: readonly RefusalCode[]
  /** What its calls count against; absent where they are not counted. */
  readonly limit?: 'discovery' | 'reading' | 'purchase'
  /** Whether it is about money, so that its errors say whether any moved. */
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
  /** The headers that matter to the caller, by name, with what they say. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An operation that anyone may ask for free, and whose answer may be kept. */
export interface Reading extends Operation {
  /**
   * Understands what is asked, or refuses it; the answer is made when it is needed.
   *
   * @param id of the offer that its path names
   */
  readonly ask: (given: ParamSource, deps: ReadDeps, id?: string) => Query
}

/** An operation about orders or prices: HTTP makes its route of it, and tools call what it calls. */
export interface OrderOperation extends Operation {
  readonly run: (call: Call, deps: BuyingDeps) => Promise<Answer>
}

/** An operation about the store itself, the same for every caller. */
export interface StoreOperation extends Operation {
  /** How long anyone may keep its answer. */
  readonly cacheControl: string
  /** Where it is served if the store is published at a path below its host. Absent: at its own path. */
  readonly servedAt?: (site: Site) => string
  readonly run: (deps: StoreDeps) => { readonly body: object; readonly status?: number }
}

/** What the store says of itself is made of this. */
export interface StoreDeps {
  readonly site: Site
  readonly keys: { readonly published: readonly PublicJwk[] }
  readonly health: Pick<Health, 'parts' | 'signals'>
  /** From payment to `EXPIRED`; seconds. */
  readonly fulfillmentDeadlineSeconds: number
  /** Aborted when the store is told to stop. */
  readonly draining: AbortSignal
  /** All that may be asked of it. */
  readonly operations: readonly Operation[]
}

/** One call of an operation, as its transport read it. */
export interface Call {
  /** From its path; empty where that names no order. */
  readonly orderId: string
  readonly query: ParamSource
  /**
   * The flat fields of the body, or of the query where the operation takes a purchase there.
   *
   * @throws Refusal when there are none to be read
   */
  readonly fields: () => Readonly<Record<string, unknown>>
  /** The credentials of its caller. @throws Refusal `invalid_header` */
  readonly shown: () => Credentials
  /** Those of them whose form needs no check. */
  readonly tokens: Pick<Credentials, 'accessToken' | 'signIn'>
  /** The address that the call came from, as limits count it. */
  readonly client: string
  readonly proofs: ProofLimit
  readonly log: FaultLog
}

/** The credentials of a call, as its transport read them. */
export interface Credentials {
  readonly accessToken?: string | undefined
  /** A signed sign-in message, in base64. */
  readonly signIn?: string | string[] | undefined
  /** Checked by `keyOf`. */
  readonly idempotencyKey?: string | undefined
}

/** How often a client may have something looked up that is not theirs: as often as proofs may fail. */
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
      /** For what is under way; otherwise 200. */
      readonly status?: 202
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly signIn: SignInAsk }

/** What differs from one reading operation to the next. */
type ReadingSpec = Pick<Reading, 'id' | 'path' | 'name' | 'description' | 'answers' | 'ask'> &
  Partial<Pick<Reading, 'query'>>

/** An operation of the discovery interface, and of its limit. */
export function inDiscovery(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Discovery', limit: 'discovery', ...spec }
}

/** An operation that reads the catalog interface. */
export function inCatalog(spec: ReadingSpec): Reading {
  return { ...freely(spec), group: 'Catalog', limit: 'reading', ...spec }
}

function freely({ query }: ReadingSpec) {
  const refusals = query === undefined ? refusesAnyQuery : refusesQuery
  return { method: 'GET', access: 'free', refusals } as const
}

/** Why a query that is read strictly is refused; one that takes no parameters knows none to repeat. */
export const refusesQuery = [
  'invalid_parameter',
  'unknown_parameter',
  'repeated_parameter',
] as const
export const refusesAnyQuery = ['invalid_parameter', 'unknown_parameter'] as const

/** Why an operation may refuse: for its own reasons, for its address, and when it is asked too often. */
export function refusalsOf({ refusals, pathParams, limit }: Operation): readonly RefusalCode[] {
  return [
    ...refusals,
    ...(pathParams === undefined ? [] : (['invalid_url', 'not_found'] as const)),
    ...(limit === undefined ? [] : (['rate_limited'] as const)),
  ]
}

/** The one answer of most operations. */
export function answers(description: string, shape: z.ZodType): Operation['answers'] {
  return { 200: { description, shape } }
}
