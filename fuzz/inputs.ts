import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import openapi from '../openapi.json' with { type: 'json' }
import { bodyFor, type Kind } from '../test/stories/requests.ts'

/** One request, in parts that fast-check can shrink. */
export interface Input {
  readonly method: string
  readonly path: string
  /** Names and values, encoded for the URL. */
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: { readonly text: string; readonly coding: 'utf8' | 'utf16le' | 'latin1' | 'gzip' }
  /** Calls an address that a quote gave: true, or with this bit changed or this text behind it. */
  readonly sealed?: {
    readonly kind: Kind
    readonly bit?: number | undefined
    readonly tail: string
  }
  /** Changes to a payment that is signed by a wallet without funds, for the price of this kind. */
  readonly payment?: { readonly kind: Kind; readonly changes: readonly Change[] }
}

/** Puts a value in the place of one part of a JSON value. */
type Change = readonly [at: number, put: unknown]

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Letters that grow when they are normalised, combine, turn the direction, or are no letters at all. */
const letters =
  '\u3316 \ufdfa \u0344 \ufb03 \u1e9e \u0130 \u304b\u3099 \u0e44\u0e17 \u{1f468}\u200d\u{1f469}'
const controls = '\u202e \ufeff \u2028 \u0000 \u0085 \ud800 \ufffe'
const syntax = String.raw`< " ' \ % & = / .. - * [ { $ __proto__ NaN 1e999`
const goods = 'amazon,netflix,gift card,data,esim,topup,roaming,10 gb,7 days,25 eur,$10,5.50'
const asks = 'not above,at most,without,except,under,between,and,or,germany,usa,france italy,europe'
const words = [goods, asks, '+234 803 123 4567'].flatMap((list) => list.split(','))
const kinds = ['voucher', 'topup', 'esim'] as const
/** An entry of `oneof` that comes this many times as often. */
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })

const piece = fc.oneof(
  fc.constantFrom(...[letters, controls, syntax].flatMap((list) => list.split(' '))),
  fc.constantFrom(...words),
  fc.integer().map(String),
  fc.string({ unit: 'binary', maxLength: 9 }),
)
const text = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(' ')),
  fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join('')),
  repeated(piece),
  repeated(fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => `${pieces.join('')} `)),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
)

function repeated(one: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(one, fc.integer({ min: 1, max: 600 })).map(([part, times]) => part.repeat(times))
}

const offerIds = ['TEST-VOUCHER-OK', 'TEST-TOPUP-OK', 'TEST-ESIM-OK', 'test-voucher-open']
const valid: Readonly<Record<string, readonly string[]>> = {
  country: ['US', 'de', 'GB', 'XK'],
  covers: ['FR,DE', 'US', 'FR,DE,IT,ES,PT,GB'],
  offerId: offerIds,
  id: offerIds,
  orderId: [`ord_${'0'.repeat(26)}`],
  kind: kinds,
  sort: ['match', 'price', 'low', 'high'],
  ...{ min: ['1'], max: ['30'], page: ['2', '200'] },
}

/** Mostly a value as the schema wants it. */
function anyOf(name: string, schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(often(3, goodOf(name, schema)), often(2, text))
}

function goodOf(name: string, { type, enum: allowed, pattern }: Schema): fc.Arbitrary<unknown> {
  const known = valid[name] ?? allowed
  if (known) return fc.constantFrom(...known)
  if (type === 'integer') return fc.nat(60)
  if (type === 'number') return fc.constantFrom(0, 1.5, 25, 1_000)
  if (type === 'boolean') return fc.boolean()
  // fast-check knows no look-ahead.
  const isPlain = pattern !== undefined && !/\(\?[=!<]/.test(pattern)
  return isPlain ? fc.stringMatching(new RegExp(pattern)) : fc.constantFrom(...words)
}

/** A text in a URL: encoded, or with escapes that are no UTF-8. */
function escapedText(plain: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const bad = fc.constantFrom('%FF', '%', '%zz', '%ED%A0%80', '%C0%80', '%00', '%2F..%2F', '%u0041')
  const escaped = plain.map((one) => encodeURIComponent(String(one).toWellFormed()))
  return fc.oneof(often(20, escaped), repeated(bad))
}

const nested = fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.boolean()).map(([depth, isList]) => {
  const [open, close] = isList ? ['[', ']'] : ['{"a":', '}']
  return JSON.parse(`${open.repeat(depth)}1${close.repeat(depth)}`)
})
const json: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.constantFrom(null, true, 0, -1, 0.1, 1e308, 2 ** 53, '', [], {}, [[]], { length: -1 }),
  fc.jsonValue({ maxDepth: 3 }),
  nested,
)

/** An object with some of the fields of this one, each of what is made of it. */
function someOf<T>(like: object, valueFor: (value: T, name: string) => fc.Arbitrary<unknown>) {
  const fields = Object.entries(like).map(([name, value]) => [name, valueFor(value, name)])
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] })
}

/** An object like this one, in which fields are missing or of any JSON; or any JSON at all. */
function like(good: object): fc.Arbitrary<unknown> {
  const some = someOf(good, (value) => fc.oneof(often(4, fc.constant(value)), json))
  return fc.oneof(often(6, some), json)
}

/** A copy with values in the place of some of its parts, counted in the order in which JSON.parse revives them. */
export function changed(value: unknown, changes: readonly Change[]): unknown {
  const puts = new Map(changes)
  let at = -1
  return JSON.parse(JSON.stringify(value), (_, part) => {
    at += 1
    return puts.has(at) ? puts.get(at) : part
  })
}

const someChanges = fc.array(fc.tuple(fc.nat(24), json), { maxLength: 3 })

const acceptsMcp = 'application/json, text/event-stream'
const signIn = { domain: 'x', address: `0x${'1'.repeat(40)}`, nonce: 'n', chainId: 'eip155:84532' }
const headerNames = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'cookie', 'origin'],
  ...['idempotency-key', 'if-none-match', 'prefer', 'sign-in-with-x', 'payment-signature'],
  ...['mcp-protocol-version', 'x-forwarded-host'],
]
const headers = fc.dictionary(
  fc.constantFrom(...headerNames),
  fc.oneof(
    fc.constantFrom(...['*/*', 'text/html', acceptsMcp, 'gzip, br', '"a", W/"b"', '"'.repeat(900)]),
    fc.constantFrom(
      'null',
      'wait=0',
      'wait=99999999999',
      'k'.repeat(32),
      `Bearer kat_${'t'.repeat(43)}`,
    ),
    text.map((one) => one.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 2_000)),
    like(signIn).map((one) => Buffer.from(JSON.stringify(one)).toString('base64').slice(0, 2_000)),
  ),
  { maxKeys: 5 },
)
const someHeaders = fc.oneof(often(3, fc.constant({})), often(2, headers))

export interface Surface {
  readonly routes: readonly { readonly route: string; readonly methods: readonly string[] }[]
  readonly tools: readonly { readonly name: string; readonly inputSchema: Schema }[]
}

/**
 * Requests to every route of the store and every tool, from good ones to those that are nothing like one.
 * Routes that search a text come more often, because they do most with it.
 */
export function inputs({ routes, tools }: Surface): fc.Arbitrary<Input> {
  const requests = routes.flatMap(({ route, methods }) =>
    methods.map((method) => {
      const weight = method === 'GET' && searching.includes(route) ? 12 : 1
      return often(weight, requestTo(method, route))
    }),
  )
  const sealed = ['GET', 'POST'].map((method) => often(6, sealedCall(method)))
  const calls = tools.map((tool) => often(tool.name === 'search' ? 8 : 1, callOf(tool)))
  return fc.oneof(often(4, fc.oneof(...requests, ...sealed)), fc.oneof(...calls))
}

/** The parameters that are searched word by word. */
const searched = ['query', 'search', 'q']
const searching = '/ai/search /ai/vouchers /ai/esims /api/catalog/esims/offers /search'.split(' ')
const webParams = 'q,kind,country,min,max,sort,page,brand,token,examples'
  .split(',')
  .map((name) => ({ name, schema: {} }))

function requestTo(method: string, route: string): fc.Arbitrary<Input> {
  const { parameters = [] } = operationOf(method, route)
  const documented = parameters.filter((one) => one.in === 'query')
  const pairs = (documented.length > 0 ? documented : webParams).map(({ name, schema }) => {
    const pair = fc.tuple(fc.constant(name), escapedText(anyOf(name, schema)))
    return often(searched.includes(name) ? 6 : 1, pair)
  })
  const stray = fc.tuple(escapedText(text), escapedText(text))
  const request = {
    method: fc.constant(method),
    path: pathOf(route),
    query: fc.array(fc.oneof(often(9, fc.oneof(...pairs)), stray), { maxLength: 4 }),
    headers: someHeaders,
  }
  if (method === 'GET') return fc.record(request)
  const kind = kinds.find((one) => route.includes(`/${one}s/`))
  const plain = fc.record({ ...request, body: bodyOf(method, route) })
  if (kind === undefined) return plain
  const good = { text: JSON.stringify(bodyFor(kind, 'OK')), coding: 'utf8' as const }
  const payment = fc.record({ kind: fc.constant(kind), changes: someChanges })
  return fc.oneof(plain, fc.record({ ...request, body: fc.constant(good), payment }))
}

const payable = '/x402/*'

/** A call of an address that a quote gave, with or without a payment. */
function sealedCall(method: string): fc.Arbitrary<Input> {
  const kind = fc.constantFrom(...kinds)
  const bit = fc.option(fc.nat(6_000), { nil: undefined })
  const tail = fc.oneof(often(3, fc.constant('')), escapedText(text))
  const request = {
    ...{ method: fc.constant(method), path: fc.constant(payable), query: fc.constant([]) },
    ...{ headers: someHeaders, sealed: fc.record({ kind, bit, tail }) },
  }
  const payment = fc.record({ kind, changes: someChanges })
  const plain = method === 'GET' ? request : { ...request, body: bodyOf(method, payable) }
  return fc.oneof(fc.record(request), fc.record(plain), fc.record({ ...request, payment }))
}

function pathOf(route: string): fc.Arbitrary<string> {
  const parts = route.split('/').map((part) => {
    if (part === '*') return escapedText(text)
    return part.startsWith(':') ? escapedText(anyOf(part.slice(1), {})) : fc.constant(part)
  })
  return fc.tuple(...parts).map((all) => all.join('/') || '/')
}

interface Operation {
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { examples: object }>> }
}

/** What openapi.json says of a route; nothing of a page. */
function operationOf(method: string, route: string): Operation {
  const path = route.replace(/:(\w+)/g, '{$1}')
  const paths = openapi.paths as unknown as Readonly<Record<string, Record<string, Operation>>>
  return paths[path]?.[method.toLowerCase()] ?? {}
}

/** What the forms of the pages send. */
const formNames =
  'offerId,msisdn,email,firstName,value,pay,seen,key,code,token,number,address,signed,country'.split(
    ',',
  )

function bodyOf(method: string, route: string): fc.Arbitrary<NonNullable<Input['body']>> {
  const { requestBody } = operationOf(method, route)
  const [good] = Object.values(requestBody?.content['application/json']?.examples ?? {})
  const ofSupplier = { transactionId: 'ord0'.repeat(6), status: 'DONE' }
  const asJson = like(good?.value ?? ofSupplier).map((one) => JSON.stringify(one))
  const name = fc.constantFrom(...formNames)
  const field = fc.tuple(name, escapedText(text)).map((pair) => pair.join('='))
  const asForm = fc.array(field, { maxLength: 6 }).map((all) => all.join('&'))
  const others = fc.constantFrom('utf16le' as const, 'latin1' as const, 'gzip' as const)
  const coding = fc.oneof(often(12, fc.constant('utf8' as const)), others)
  return fc.record({ text: fc.oneof(often(3, asJson), asForm, text), coding })
}

function callOf({ name, inputSchema }: Surface['tools'][number]): fc.Arbitrary<Input> {
  const some = someOf(inputSchema.properties ?? {}, (schema: Schema, field) =>
    fc.oneof(anyOf(field, schema), json),
  )
  const call = some.map((args) => {
    const params = { name, arguments: args, _meta: {} }
    return { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  })
  return fc.record({
    method: fc.constant('POST'),
    path: fc.constant('/mcp'),
    query: fc.constant([]),
    headers: fc.constant({ accept: acceptsMcp }),
    body: call.map((one) => ({ text: JSON.stringify(one), coding: 'utf8' as const })),
  })
}

export function bytesOf({ text: content, coding }: NonNullable<Input['body']>): Buffer {
  return coding === 'gzip' ? gzipSync(content) : Buffer.from(content, coding)
}
