import type * as z from 'zod'
import type { Kind } from '../catalog/offer.ts'
import type { ParamSource } from '../catalog/search/param-source.ts'
import type { Params } from '../catalog/search/params.ts'
import type { RefusalCode } from '../lib/refusal.ts'
import type { ReadDeps } from './deps.ts'
import type { Query } from './query.ts'

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
  /** Understands what is asked, or refuses it; the answer is made when it is needed. */
  readonly ask: (given: ParamSource, deps: ReadDeps) => Query
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
