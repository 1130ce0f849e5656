import { isUtf8 } from 'node:buffer'
import { decodePaymentSignatureHeader } from '@x402/core/http'
import type { PaymentRequired, SettleResponse } from '@x402/core/types'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keyOf } from '../api/buying/credentials.ts'
import { bazaarOf, type PaymentTransport } from '../api/buying/payment-required.ts'
import { type Presented, presentedIn, versionOne } from '../api/buying/purchase.ts'
import { type Call, type Credentials, purchasePath } from '../api/operation.ts'
import {
  echoOf,
  invalidParameter,
  type ParamSource,
  unknownParameter,
} from '../catalog/search/params.ts'
import { Refusal } from '../lib/refusal.ts'
import { clientKeyOf, countRefused, type Limits, lookAtRefused } from './gate.ts'

export function callIn(
  request: FastifyRequest,
  reply: FastifyReply,
  limits: Pick<Limits, 'refused'>,
): Call {
  const url = request.raw.url ?? ''
  return {
    orderId: (request.params as { orderId?: string }).orderId ?? '',
    query: inQuery(url),
    fields: () => (request.method === 'GET' ? quoteFields(url) : postedFields(request)),
    readCredentials: () => credentialsIn(request),
    signIn: request.headers['sign-in-with-x'],
    client: clientKeyOf(request.ip),
    proofs: {
      mayProve: () => lookAtRefused(limits.refused, request, reply),
      provedNothing: () => countRefused(limits.refused, request),
    },
  }
}

export function credentialsIn({ headers }: FastifyRequest): Credentials {
  const [, accessToken] =
    /^Bearer ([A-Za-z0-9._-]{1,200})$/i.exec(headers.authorization ?? '') ?? []
  return {
    accessToken,
    signIn: headers['sign-in-with-x'],
    idempotencyKey: keyOf(headers['idempotency-key'], 'Idempotency-Key'),
  }
}

/** How long the buyer wants to wait, by `Prefer: respond-async` or `Prefer: wait=3` (RFC 7240); milliseconds. */
export function preferredWaitMs({ headers }: FastifyRequest): number | undefined {
  const preferences = preferencesIn(headers)
  const [, seconds] = /^wait=(\d{1,4})$/m.exec(preferences.join('\n')) ?? []
  if (seconds !== undefined) return Number(seconds) * 1_000
  return preferences.includes('respond-async') ? 0 : undefined
}

/** Whether the buyer wants the purchase as an address: `Prefer: payable-url`. */
export function prefersUrl({ headers }: FastifyRequest): boolean {
  return preferencesIn(headers).includes('payable-url')
}

function preferencesIn(headers: FastifyRequest['headers']): readonly string[] {
  return [headers['prefer']]
    .flat()
    .join(',')
    .toLowerCase()
    .split(/[,;\s]+/)
}

/** The maximum size of a body, in bytes. */
export const maxBody = 16 * 1024

/**
 * Takes JSON only. An empty body is undefined, because indexers probe purchases with one. Keys that would reach an
 * object's prototype are refused.
 */
export function takeJsonBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _, done) => {
    const once = onceOf(request.headers['content-type'] ?? '')
    if (once !== undefined) request.headers['content-type'] = once
    done()
  })
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>(
    'application/json',
    { parseAs: 'buffer' },
    (request, body, done) => {
      if (body.length === 0) return done(null, undefined)
      if (!isUtf8(body)) return done(notJson('The body is not UTF-8 text.'))
      return parse(request, body.toString(), (error, value) =>
        error ? done(notJson('The body is not valid JSON.')) : done(null, value),
      )
    },
  )
}

/**
 * Some libraries add their own content type to the caller's, joined by a comma. Undefined unless the header repeats
 * one.
 */
function onceOf(header: string): string | undefined {
  const [first = '', ...others] = header.split(',').map((type) => type.trim())
  const isRepeated = others.every((type) => type.toLowerCase() === first.toLowerCase())
  return others.length > 0 && isRepeated ? first : undefined
}

function notJson(message: string): Refusal {
  return new Refusal('invalid_json', message)
}

/**
 * Fields in the query are refused: if they were ignored, an empty body would be answered with the terms of some other
 * offer.
 *
 * @throws Refusal `unknown_parameter`, or `invalid_json` when the body is not an object
 */
export function postedFields({
  body,
  raw: { method, url = '' },
}: FastifyRequest): Record<string, unknown> {
  const [parameter] = new URLSearchParams(queryOf(url)).keys()
  if (parameter !== undefined) {
    const echo = echoOf(parameter)
    const message = `${echo} is in the query. ${method} takes its fields as JSON in the body.`
    throw new Refusal('unknown_parameter', message, { parameter: echo })
  }
  if (typeof (body ?? {}) !== 'object' || Array.isArray(body)) {
    throw notJson('The body must be a JSON object.')
  }
  return { ...(body as object | null | undefined) }
}

/** @throws Refusal `unknown_parameter`: what is bought is in the address, and nothing may seem to change it. */
export function requireNoFields({ body, raw: { url = '' } }: FastifyRequest): void {
  const [field] = [...new URLSearchParams(queryOf(url)).keys(), ...Object.keys(Object(body ?? {}))]
  if (field === undefined) return
  const message = 'The address holds the whole purchase: send no fields with it.'
  const details = { parameter: echoOf(field), charged: 'no' } as const
  throw new Refusal('unknown_parameter', message, details)
}

/**
 * A plus sign that is not escaped decodes to a space, so a space before a phone number is read as its plus sign.
 * @throws Refusal `invalid_parameter`, `repeated_parameter`
 */
export function quoteFields(url: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, text] of pairsIn(url)) {
    fields[name] = name === 'msisdn' ? text.replace(/^ /, '+') : text
  }
  return fields
}

/** In bytes. */
export const maxQuery = 2048
const controlCharacters = /\p{Cc}/u

/** The parameters in the query of a raw target, read strictly: UTF-8 in percent encoding, `+` for a space. */
export function inQuery(url: string): ParamSource {
  return (allowed) => {
    const fields = new Map<string, string>()
    for (const [name, value] of pairsIn(url)) {
      const echo = echoOf(name)
      if (controlCharacters.test(name + value)) {
        throw invalidParameter(echo, `${echo} must not have control characters.`)
      }
      if (!allowed.includes(name)) throw unknownParameter(name, allowed)
      fields.set(name, value.trim())
    }
    return fields
  }
}

/** The parameters in a query, decoded and otherwise as sent. */
function* pairsIn(url: string): Generator<readonly [name: string, value: string]> {
  const query = queryOf(url)
  if (query.length > maxQuery) throw tooLong(query)
  const names = new Set<string>()
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [rawName = '', rawValue = ''] = pair.split(/=(.*)/s)
    const name = decoded(rawName)
    const value = decoded(rawValue)
    const parameter = echoOf(name ?? rawName)
    if (name === undefined || value === undefined) {
      throw invalidParameter(parameter, `${parameter} is not valid UTF-8 in percent encoding.`)
    }
    if (names.has(name)) {
      const message = `${parameter} may be given once only.`
      throw new Refusal('repeated_parameter', message, { parameter })
    }
    names.add(name)
    yield [name, value]
  }
}

export function queryOf(url: string): string {
  return /\?([^#]*)/.exec(url)?.[1] ?? ''
}

/** Undefined if the text is not valid percent encoding of UTF-8. */
function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

function tooLong(query: string): Refusal {
  const longest = query.split('&').reduce((one, other) => (other.length > one.length ? other : one))
  const name = echoOf(decoded(longest.split('=')[0] ?? '') ?? '')
  return invalidParameter(name, `The query is longer than ${maxQuery} bytes; ${name} is longest.`)
}

const paymentHeaders = {
  required: 'PAYMENT-REQUIRED',
  signature: 'PAYMENT-SIGNATURE',
  older: 'X-PAYMENT',
  response: 'PAYMENT-RESPONSE',
} as const

/** The terms and the longest signature, of a wallet that is not deployed yet (ERC-6492), make 13.2 kB of base64. */
const maxSignatureHeader = 14 * 1_024

export const httpTransport: PaymentTransport = {
  resource: ({ url }, kind) => `${url}${purchasePath(kind)}`,
  keysTellPurchases: true,
  howToSend: `send the same request with it in ${paymentHeaders.signature}`,
  discovery: () => ({}),
}

/** Indexes ask with an empty body. Whoever names a purchase knows how to call the route. */
export const indexedTransport: PaymentTransport = { ...httpTransport, discovery: bazaarOf }

export function payableTransport(address: string): PaymentTransport {
  return { ...httpTransport, address }
}

/**
 * Version 1 of x402 used another header, `X-PAYMENT`.
 *
 * @throws Refusal `invalid_header` for one that is malformed (x402 HTTP transport, version 2, "Error Handling"), or that
 * of the limit that the request exceeds
 */
export function paymentIn({ headers, heldUp }: Pick<FastifyRequest, 'headers' | 'heldUp'>) {
  const isOlder = !headers['payment-signature'] && Boolean(headers['x-payment'])
  const parameter = isOlder ? paymentHeaders.older : paymentHeaders.signature
  const presented = presentedPayment(headers[parameter.toLowerCase()], parameter)
  if (presented.type !== 'unreadable' || presented === versionOne) return presented
  const counted = { charged: 'no', provesNothing: true } as const
  throw heldUp ?? new Refusal('invalid_header', `${presented.reason}.`, { parameter, ...counted })
}

/** Reads a payment. Never throws, because the header may come from an attacker. */
export function presentedPayment(
  header: string | string[] | undefined,
  name: string = paymentHeaders.signature,
): Presented {
  const unreadablePayment = (why: string): Presented => ({
    type: 'unreadable',
    reason: `The ${name} header cannot be read: ${why}`,
  })
  if (!header) return { type: 'none' }
  if (typeof header !== 'string') return unreadablePayment('there is more than one')
  if (header.length > maxSignatureHeader) return unreadablePayment('it is longer than 14 kB')
  try {
    return presentedIn(decodePaymentSignatureHeader(header), unreadablePayment)
  } catch {
    return unreadablePayment('it is not base64 of a JSON object')
  }
}

/** The body repeats the terms of the header, because not every client reads headers. */
export function answer402(
  reply: FastifyReply,
  required: PaymentRequired,
  more: object,
): FastifyReply {
  return privately(reply)
    .status(402)
    .header(paymentHeaders.required, encoded(required))
    .send({ ...required, ...more })
}

/** No cache may store it. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
}

/** Empty while the payment is not proven. */
export function paymentResponse(settled: SettleResponse | undefined): Record<string, string> {
  return settled ? { [paymentHeaders.response]: encoded(settled) } : {}
}

/** As the x402 package does, in a twentieth of the time: the package loops over the bytes in JavaScript. */
function encoded(content: PaymentRequired | SettleResponse): string {
  return Buffer.from(JSON.stringify(content)).toString('base64')
}
