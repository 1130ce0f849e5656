import type * as z from 'zod'
import type { ZodOpenApiOperationObject } from 'zod-openapi'
import { PaymentRequiredAnswer } from '../src/api/buying/payment-required.ts'
import { SignInRequiredAnswer } from '../src/api/buying/sign-in.ts'
import { type Operation, refusalsOf } from '../src/api/operation.ts'
import { DiscoveryError, Problem } from '../src/api/refusals.ts'
import { internalRule, type Rule, rules } from '../src/lib/refusal.ts'
import type { Example } from './examples.ts'

type Responses = ZodOpenApiOperationObject['responses']
type Response = Exclude<Responses[`2${string}`], { $ref: string }>

/** A status of an operation, with its possible codes. */
export interface Documented {
  readonly status: number
  readonly description: string
  readonly type?: 'application/json' | 'application/problem+json'
  readonly shape?: z.ZodType
  readonly headers?: Readonly<Record<string, string>>
  /** The codes of its errors; empty for a success. */
  readonly codes: readonly string[]
}

/** All answers of an operation. */
export function documentedOf(operation: Operation): readonly Documented[] {
  return [...answersOf(operation), ...demandOf(operation), ...refusedOf(operation)]
}

export function responsesOf(operation: Operation, examples: readonly Example[]): Responses {
  const responses = documentedOf(operation).map((one) => [
    String(one.status),
    responseOf(one, examples),
  ])
  return Object.fromEntries(responses)
}

function responseOf(
  { status, description, type, shape, headers = {}, codes }: Documented,
  examples: readonly Example[],
): Response {
  const shown = examples
    .filter((example) => example.status === status)
    .map(({ name, summary, body: value }) => ({ name, summary, value }))
  return {
    description,
    headers: headersOf(headers),
    ...(codes.length > 0 ? { 'x-error-codes': codes } : {}),
    ...(type === undefined || shape === undefined
      ? {}
      : { content: { [type]: { schema: shape, ...examplesOf(shown) } } }),
  }
}

interface Shown {
  readonly name: string
  readonly summary: string
  readonly value: unknown
}

/** Examples by name; an empty object if there are none. */
export function examplesOf(shown: readonly Shown[]) {
  const examples = shown.map(({ name, ...example }) => [name, example] as const)
  return shown.length === 0 ? {} : { examples: Object.fromEntries(examples) }
}

/** Headers of many answers, by name; answers refer to these definitions. */
const shared: Readonly<Record<string, string>> = {
  'X-Request-Id': 'Names this request in the log of the operator',
  ETag: 'Send it back in If-None-Match',
  RateLimit: 'How many requests are left, and for how long',
  'RateLimit-Policy': 'How many requests are taken in which time',
  'Retry-After': 'Seconds until the same request may succeed',
}

/** The header components that operations share. */
export const sharedHeaders = Object.fromEntries(
  Object.entries(shared).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' as const } },
  ]),
)

function headersOf(own: Readonly<Record<string, string>>) {
  const all = Object.entries({ ...own, ...told('X-Request-Id') })
  return Object.fromEntries(
    all.map(([name, description]) => [
      name,
      shared[name] === description
        ? { $ref: `#/components/headers/${name}` }
        : { description, schema: { type: 'string' as const } },
    ]),
  )
}

function told(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, shared[name] ?? '']))
}

const kept = told('ETag')
const counted = told('RateLimit', 'RateLimit-Policy')
const waits = told('Retry-After')
const asksFor = { 'PAYMENT-REQUIRED': 'The same as the body, base64 of JSON' }

function answersOf({ answers, group, limit }: Operation): Documented[] {
  const isKept = group === 'Discovery' || group === 'Catalog'
  const more = { ...(isKept ? kept : {}), ...(limit === undefined ? {} : counted) }
  const good = Object.entries(answers).map(([status, { description, shape, headers }]) => ({
    status: Number(status),
    description,
    type: 'application/json' as const,
    shape,
    headers: { ...headers, ...more },
    codes: [],
  }))
  const known = { status: 304, description: 'You have it already', headers: more, codes: [] }
  return isKept ? [...good, known] : good
}

/** The 402 before the operation is carried out, which asks for a payment or a sign-in. */
function demandOf({ access, refusals }: Operation): Documented[] {
  if (access === 'free') return []
  const demand = { status: 402, type: 'application/json', headers: asksFor } as const
  if (access === 'sign_in') {
    const description = 'Nothing to pay: sign the challenge with the paying wallet'
    return [{ ...demand, description, shape: SignInRequiredAnswer, codes: ['sign_in_required'] }]
  }
  const codes = refusals.filter((code) => rules[code].status === 402)
  return [
    {
      ...demand,
      description:
        'The exact price: sign it and send the same request again. With code, the payment that was sent was not taken.',
      shape: PaymentRequiredAnswer,
      codes: ['payment_required', ...codes],
    },
  ]
}

/** Refusals by status. On a paid operation, refusals with 402 are documented with the price instead. */
function refusedOf(operation: Operation): Documented[] {
  const paid = typeof operation.access === 'object'
  const named: (readonly [code: string, rule: Rule])[] = [
    ...refusalsOf(operation).map((code) => [code, rules[code]] as const),
    ['internal_error', internalRule],
  ]
  const byStatus = Map.groupBy(
    named.filter(([, { status }]) => !(paid && status === 402)),
    ([, { status }]) => status,
  )
  const body = bodyOfRefusals(operation)
  return Array.from(byStatus, ([status, of]) => ({
    status,
    description: [...new Set(of.map(([, { title }]) => title))].join('; '),
    ...body,
    headers: status === 429 || status === 503 ? waits : {},
    codes: of.map(([code]) => code),
  }))
}

function bodyOfRefusals({ group }: Operation) {
  return group === 'Discovery'
    ? ({ type: 'application/json', shape: DiscoveryError } as const)
    : ({ type: 'application/problem+json', shape: Problem } as const)
}
