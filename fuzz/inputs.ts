import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import openapi from '../openapi.json' with { type: 'json' }

/** One request, in parts that fast-check can shrink. */
export interface Input {
  readonly method: string
  /** The route, with the names of its parameters. */
  readonly route: string
  readonly path: string
  /** Names and values, encoded for the URL. */
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly headers: Readonly<Record<string, string>>
  readonly body?: { readonly text: string; readonly coding: 'utf8' | 'utf16le' | 'latin1' | 'gzip' }
  /** Changes to a payment that is signed by a wallet without funds, for the price of this kind. */
  readonly payment?: { readonly kind: Kind; readonly changes: readonly Change[] }
}

export type Kind = 'voucher' | 'topup' | 'esim'
/** Puts a value in the place of one part of a JSON value. */
type Change = readonly [at: number, put: unknown]

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly schema: Schema
}

/** Letters that grow when they are normalised, combine, turn the direction, or are no letters at all. */
const growing =
  '\u3316 \u3300 \ufdfa \u0344 \ufb03 \u1e9e \u0130 \u212b \uff11 \u304b\u3099 e\u0301'
const scripts =
  '\u0e44\u0e17\u0e22 \u65e5\u672c \ud55c \u05d0 \u0639 \u0663 \u{1f468}\u200d\u{1f469}'
const controls =
  '\u0301 \u202e \u200b \ufeff \u2028 \u0000 \u001f \u0085 \ud800 \udc00 \ufffe \u{10ffff}'
const syntax = String.raw`< " ' \ % & = / .. - + * [ { $ __proto__ NaN 1e999`
const letters = [growing, scripts].flatMap((pieces) => pieces.split(' '))
const oddPieces = [...letters, ...[controls, syntax].flatMap((pieces) => pieces.split(' '))]
const goods =
  'amazon,netflix,psn,gift card,data,esim,topup,roaming,10 gb,7 days,25 eur,$10,30,5.50,usd'
const bounds = 'not above,at most,no more than,without,except,under,between,and,or,for'
const places =
  'germany,deutschland,japan,usa,united states,france italy,europe,paris,+234 803 123 4567'
const words = [goods, bounds, places].flatMap((list) => list.split(','))
/** An entry of `oneof` that comes this many times as often. */
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary })

const piece = fc.oneof(
  fc.constantFrom(...oddPieces),
  fc.constantFrom(...words),
  fc.integer().map(String),
  fc.string({ unit: 'binary', maxLength: 9 }),
)
const text = fc.oneof(
  fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(' ')),
  fc.array(piece, { maxLength: 120 }).map((pieces) => pieces.join('')),
  repeated(fc.constantFrom(...letters)),
  repeated(fc.constantFrom(...oddPieces)),
  repeated(fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => `${pieces.join('')} `)),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
)

function repeated(one: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(one, fc.integer({ min: 1, max: 600 })).map(([part, times]) => part.repeat(times))
}

/** Values that are each valid somewhere, by the name of the field. */
const valid: Readonly<Record<string, readonly string[]>> = {
  country: ['US', 'de', 'GB', 'XK'],
  offerId: ['TEST-VOUCHER-OK', 'TEST-TOPUP-OK', 'TEST-ESIM-OK', 'TEST-VOUCHER-OPEN'],
  id: ['TEST-VOUCHER-OK', 'test-voucher-open'],
  orderId: [`ord_${'0'.repeat(26)}`],
  kind: ['voucher', 'topup', 'esim'],
  covers: ['FR,DE', 'US', 'FR,DE,IT,ES,PT,GB'],
  sort: ['match', 'price', 'low', 'high'],
  limit: ['1', '20', '50'],
  offset: ['0', '7', '5000'],
  page: ['1', '2', '200'],
  phone: ['+12025550123', '+234 803 123 4567'],
  msisdn: ['+12025550123'],
  duration: ['7', '30'],
  examples: ['full'],
}

function textOf(name: string, { type, enum: allowed }: Schema = {}): fc.Arbitrary<string> {
  const good = valid[name] ?? allowed ?? typed[String(type)] ?? words
  return fc.oneof(often(3, fc.constantFrom(...good)), often(2, text))
}

const typed: Readonly<Record<string, readonly string[]>> = {
  integer: ['0', '1', '30'],
  number: ['0', '1.5', '25', '1000'],
  boolean: ['true', 'false'],
}

/** A text in a URL: encoded, or with escapes that are no UTF-8. */
function escapedText(plain: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const bad = fc.constantFrom('%FF', '%', '%zz', '%ED%A0%80', '%C0%80', '%00', '%2F..%2F', '%u0041')
  const escaped = plain.map((one) => encodeURIComponent(one.toWellFormed()))
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
const changes = fc.array(fc.tuple(fc.nat(40), json), { maxLength: 3 })

/** A copy of the JSON value with these changes. */
export function changed(value: unknown, all: readonly Change[]): unknown {
  return all.reduce((now: unknown, [at, put]) => {
    const places = placesIn(now)
    return replaced(now, places[at % places.length] ?? [], put)
  }, value)
}

/** Places down to the third level, which is where a payment has its fields. */
function placesIn(value: unknown, depth = 3): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null || depth === 0) return [[]]
  const inside = Object.entries(value).slice(0, 20)
  return [
    [],
    ...inside.flatMap(([key, part]) => placesIn(part, depth - 1).map((rest) => [key, ...rest])),
  ]
}

function replaced(value: unknown, [key, ...rest]: readonly string[], put: unknown): unknown {
  if (key === undefined) return put
  const inside = (value as Readonly<Record<string, unknown>>)[key]
  const part = replaced(inside, rest, put)
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === key ? part : one))
  return { ...(value as object), [key]: part }
}

const bodies: Readonly<Record<string, unknown>> = {
  voucher: { offerId: 'TEST-VOUCHER-OK', firstName: 'Ada', lastName: 'Lovelace' },
  topup: { offerId: 'TEST-TOPUP-OK', msisdn: '+12025550123' },
  esim: { offerId: 'TEST-ESIM-OK' },
  limits: { perOrderUsdc: '12.5', perDayUsdc: '0', kinds: ['esim'], countries: ['de', 'US'] },
  refund: { reason: 'It did not come', paymentId: `pay_${'0'.repeat(26)}` },
  webhook: { transactionId: 'ord0'.repeat(6), status: 'DONE', log: [{ at: 1 }] },
}
const acceptsMcp = 'application/json, text/event-stream'
const headerText = text.map((one) => one.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 2_000))
const signIn = { domain: 'x', address: `0x${'1'.repeat(40)}`, nonce: 'n', chainId: 'eip155:84532' }
const base64Json = changes.map((all) =>
  Buffer.from(JSON.stringify(changed(signIn, all)) ?? '').toString('base64'),
)
const headers = fc.record(
  {
    accept: fc.constantFrom('*/*', 'text/html', 'application/json', acceptsMcp),
    'accept-encoding': fc.constantFrom('gzip, br', 'identity', 'x;q=9'),
    'accept-language': headerText,
    authorization: fc.oneof(fc.constant(`Bearer kat_${'t'.repeat(43)}`), headerText),
    cookie: headerText,
    'idempotency-key': fc.oneof(fc.constant('k'.repeat(32)), headerText),
    'if-none-match': fc.constantFrom('*', '"a", W/"b"', '"'.repeat(900)),
    origin: fc.constantFrom('https://agent.example', 'null'),
    prefer: fc.constantFrom('wait=0', 'respond-async', 'wait=99999999999'),
    'sign-in-with-x': fc.oneof(base64Json, headerText),
    'payment-signature': headerText,
    'mcp-protocol-version': fc.constantFrom('2025-06-18', '2026-07-28', 'x'),
    'x-forwarded-host': headerText,
  },
  { requiredKeys: [] },
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
  const calls = tools.map((tool) => often(tool.name === 'search' ? 8 : 1, callOf(tool)))
  return fc.oneof(often(4, fc.oneof(...requests)), fc.oneof(...calls))
}

/** The parameters that are searched word by word. */
const searched = ['query', 'search', 'q']
const searching = '/ai/search /ai/vouchers /ai/esims /api/catalog/esims/offers /search'.split(' ')
const webParams = 'q,kind,country,min,max,sort,page,brand,token,examples'.split(',')

function requestTo(method: string, route: string): fc.Arbitrary<Input> {
  const documented = parametersOf(method, route)
  const inQuery = documented.filter((one) => one.in === 'query')
  const named: readonly Parameter[] =
    inQuery.length > 0 ? inQuery : webParams.map((name) => ({ name, in: 'query', schema: {} }))
  const pairs = fc.oneof(
    ...named.map(({ name, schema }) => {
      const pair = fc.tuple(fc.constant(name), escapedText(textOf(name, schema)))
      return often(searched.includes(name) ? 6 : 1, pair)
    }),
  )
  const stray = fc.tuple(escapedText(text), escapedText(text))
  const request = {
    method: fc.constant(method),
    route: fc.constant(route),
    path: pathOf(route),
    query: fc.array(fc.oneof(often(9, pairs), stray), { maxLength: 4 }),
    headers: someHeaders,
  }
  if (method === 'GET') return fc.record(request)
  const kind = (['voucher', 'topup', 'esim'] as const).find((one) => route.includes(`/${one}s/`))
  const plain = fc.record({ ...request, body: bodyFor(route, kind) })
  if (kind === undefined) return plain
  const paid = fc.record({
    ...request,
    body: fc.constant({ text: JSON.stringify(bodies[kind]), coding: 'utf8' as const }),
    payment: fc.record({ kind: fc.constant(kind), changes }),
  })
  return fc.oneof(plain, paid)
}

function pathOf(route: string): fc.Arbitrary<string> {
  const parts = route.split('/').map((part) => {
    if (part === '*') return escapedText(text)
    return part.startsWith(':') ? escapedText(textOf(part.slice(1))) : fc.constant(part)
  })
  return fc.tuple(...parts).map((all) => all.join('/') || '/')
}

/** The parameters of a route in openapi.json; none for a page. */
function parametersOf(method: string, route: string): readonly Parameter[] {
  const path = route.replace(/:(\w+)/g, '{$1}')
  type Described = Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>
  const paths = openapi.paths as unknown as Readonly<Record<string, Described>>
  return paths[path]?.[method.toLowerCase()]?.parameters ?? []
}

function bodyFor(route: string, kind: Kind | undefined): fc.Arbitrary<NonNullable<Input['body']>> {
  const name = kind ?? Object.keys(bodies).find((one) => route.includes(one)) ?? 'voucher'
  const asJson = changes.map((all) => JSON.stringify(changed(bodies[name], all)) ?? '')
  const field = fc.tuple(
    fc.constantFrom('offerId', 'msisdn', 'email', 'firstName', 'value', 'pay', 'key', 'code'),
    escapedText(text),
  )
  const asForm = fc
    .array(field, { maxLength: 6 })
    .map((all) => all.map((pair) => pair.join('=')).join('&'))
  const others = fc.constantFrom('utf16le' as const, 'latin1' as const, 'gzip' as const)
  const coding = fc.oneof(often(12, fc.constant('utf8' as const)), others)
  return fc.record({ text: fc.oneof(often(3, asJson), asForm, text), coding })
}

function callOf({ name, inputSchema }: Surface['tools'][number]): fc.Arbitrary<Input> {
  const fields = Object.entries(inputSchema.properties ?? {})
  const good = fields.map(([field, schema]) => [field, fc.oneof(textOf(field, schema), json)])
  const call = fc.record(Object.fromEntries(good), { requiredKeys: [] }).map((args) => {
    const params = { name, arguments: args, _meta: {} }
    return { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  })
  return fc.record({
    method: fc.constant('POST'),
    route: fc.constant(`/mcp ${name}`),
    path: fc.constant('/mcp'),
    query: fc.constant([]),
    headers: fc.constant({ accept: acceptsMcp }),
    body: call.map((one) => ({ text: JSON.stringify(one), coding: 'utf8' as const })),
  })
}

export function bytesOf({ text: content, coding }: NonNullable<Input['body']>): Buffer {
  return coding === 'gzip' ? gzipSync(content) : Buffer.from(content, coding)
}
