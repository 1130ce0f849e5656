import type * as z from 'zod'
import type { ZodOpenApiOperationObject } from 'zod-openapi'
import { SignInRequiredAnswer } from '../src/api/buying/credentials.ts'
import { PaymentRequiredAnswer } from '../src/api/buying/payment-required.ts'
import { type Operation, refusalsOf } from '../src/api/operation.ts'
import { DiscoveryError, Problem } from '../src/api/refusals.ts'
import { internalRule, type Rule, rules } from '../src/lib/refusal.ts'
import { networks } from '../src/payments/networks.ts'
import type { Example } from './examples.ts'

type Parameter = NonNullable<ZodOpenApiOperationObject['parameters']>[number]

export function operationObject(
  operation: Operation,
  examples: readonly Example[],
): ZodOpenApiOperationObject {
  const { id, name, description, group, access, body } = operation
  const parameters = parametersOf(operation)
  return {
    operationId: id,
    summary: name,
    description,
    tags: [group],
    // An empty list means no authentication; a payment is not authentication.
    security: access === 'sign_in' ? [{ siwx: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBodyOf(operation, body, examples) }),
    responses: Object.fromEntries(
      documentedOf(operation).map((one) => [String(one.status), responseOf(one, examples)]),
    ),
    ...(typeof access === 'object' && { 'x-payment-info': paymentInfo(access.pays) }),
  }
}

function parametersOf(operation: Operation): Parameter[] {
  const { pathParams = {}, query = {}, needs = [], headers = {} } = operation
  return [
    ...Object.entries(pathParams).map(([name, schema]) => parameter('path', name, schema, true)),
    ...Object.entries(query).map(([name, { schema }]) =>
      parameter('query', name, schema, needs.includes(name)),
    ),
    ...Object.entries(headers).map(([name, { schema, required = false }]) =>
      parameter('header', name, schema, required),
    ),
  ]
}

function parameter(
  where: 'path' | 'query' | 'header',
  name: string,
  described: object,
  required: boolean,
): Parameter {
  const { description, ...schema } = described as { description?: string }
  return {
    ...{ name, in: where, schema },
    ...(description !== undefined && { description }),
    ...(required && { required }),
  }
}

/** Bodies of successful requests are the examples. */
function requestBodyOf({ answers }: Operation, body: object, examples: readonly Example[]) {
  const { $schema: _, ...schema } = body as { $schema?: string }
  const good = examples.filter(({ status, sent }) => status in answers && sent !== undefined)
  const shown = good.map(({ name, summary, sent: value }) => ({ name, summary, value }))
  return {
    required: true,
    content: { 'application/json': { schema, ...examplesOf(shown) } },
  }
}

/**
 * How a purchase is paid, in both forms that indexes read under this name: `price` and `protocols` of
 * x402scan, and `offers` of the MPP discovery draft. Clients take the amount from the 402, never from here.
 */
function paymentInfo(kind: string): object {
  const offer = {
    ...{ intent: 'charge', method: 'evm' },
    // Depends on the offer.
    amount: null,
    currency: networks['base-sepolia'].usdc,
    description: `The price of the ${kind} in USDC. Paid with x402: the 402 names the exact amount.`,
  }
  return {
    price: { mode: 'dynamic', currency: 'USD', min: '0.01' },
    protocols: [{ x402: {} }],
    offers: [offer],
  }
}

type Responses = ZodOpenApiOperationObject['responses']
type Response = Exclude<Responses[`2${string}`], { $ref: string }>

interface Documented {
  readonly status: number
  readonly description: string
  readonly type?: 'application/json' | 'application/problem+json'
  readonly shape?: z.ZodType
  readonly headers?: Readonly<Record<string, string>>
  readonly shared?: readonly string[]
  readonly codes: readonly string[]
}

export function documentedOf(operation: Operation): readonly Documented[] {
  return [...answersOf(operation), ...demandOf(operation), ...refusedOf(operation)]
}

function responseOf(
  { status, description, type, shape, headers = {}, shared = [], codes }: Documented,
  examples: readonly Example[],
): Response {
  const shown = examples
    .filter((example) => example.status === status)
    .map(({ name, summary, body: value }) => ({ name, summary, value }))
  return {
    description,
    headers: headersOf(headers, shared),
    ...(codes.length > 0 && { 'x-error-codes': codes }),
    ...(type && shape && { content: { [type]: { schema: shape, ...examplesOf(shown) } } }),
  }
}

function examplesOf(shown: readonly { readonly name: string; readonly value: unknown }[]) {
  const examples = shown.map(({ name, ...example }) => [name, example] as const)
  return shown.length === 0 ? {} : { examples: Object.fromEntries(examples) }
}

const sharedTexts: Readonly<Record<string, string>> = {
  'X-Request-Id': 'Names this request in the log of the operator',
  ETag: 'Send it back in If-None-Match',
  RateLimit: 'How many requests are left, and for how long',
  'RateLimit-Policy': 'How many requests are taken in which time',
  'Retry-After': 'Seconds until the same request may succeed',
}

const headerOf = (description: string) => ({ description, schema: { type: 'string' as const } })

export const sharedHeaders = Object.fromEntries(
  Object.entries(sharedTexts).map(([name, text]) => [name, headerOf(text)]),
)

function headersOf(own: Readonly<Record<string, string>>, names: readonly string[]) {
  const refs = [...names, 'X-Request-Id'].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ])
  const described = Object.entries(own).map(([name, text]) => [name, headerOf(text)])
  return Object.fromEntries([...described, ...refs])
}

function answersOf({ answers, group, limit }: Operation): Documented[] {
  const isKept = group === 'Discovery' || group === 'Catalog'
  const counted = limit === undefined ? [] : ['RateLimit', 'RateLimit-Policy']
  const shared = [...(isKept ? ['ETag'] : []), ...counted]
  const good = Object.entries(answers).map(([status, { description, shape, headers }]) => ({
    status: Number(status),
    description,
    type: 'application/json' as const,
    shape,
    ...(headers && { headers }),
    shared,
    codes: [],
  }))
  const known = { status: 304, description: 'You have it already', shared, codes: [] }
  return isKept ? [...good, known] : good
}

function demandOf({ access, refusals }: Operation): Documented[] {
  if (access === 'free') return []
  const headers = { 'PAYMENT-REQUIRED': 'The same as the body, base64 of JSON' }
  const demand = { status: 402, type: 'application/json', headers } as const
  if (access === 'sign_in') {
    const description = 'Nothing to pay: sign the challenge with the paying wallet'
    return [{ ...demand, description, shape: SignInRequiredAnswer, codes: ['sign_in_required'] }]
  }
  const refused = refusals.filter((code) => rules[code].status === 402)
  const codes = ['payment_required', ...refused]
  const description =
    'The exact price: sign it and send the same request again. With code, the payment that was sent was not taken.'
  return [{ ...demand, description, shape: PaymentRequiredAnswer, codes }]
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
  const body =
    operation.group === 'Discovery'
      ? ({ type: 'application/json', shape: DiscoveryError } as const)
      : ({ type: 'application/problem+json', shape: Problem } as const)
  return Array.from(byStatus, ([status, of]) => ({
    status,
    description: [...new Set(of.map(([, { title }]) => title))].join('; '),
    ...body,
    shared: status === 429 || status === 503 ? ['Retry-After'] : [],
    codes: of.map(([code]) => code),
  }))
}
