import { compactVerify, decodeProtectedHeader, errors, importJWK } from 'jose'
import * as z from 'zod'
import { canonicalJson } from '../lib/canonical-json.ts'
import {
  Delivered,
  deliveryHash,
  ReceiptAnswer,
  ReceiptClaims,
  receiptType,
} from '../orders/delivery-receipt.ts'
import { notProvenLines, printable, provenLines } from './verify-lines.ts'

/** Nothing can be checked: the input is not a receipt, or its keys cannot be read. */
export class NotAReceipt extends Error {}

/** A key set as it was found, not validated yet, and its source. */
export interface Keys {
  readonly keys: unknown
  readonly from: string
}

export interface Verdict {
  readonly isProven: boolean
  /** What is proven and what is not, for a person. */
  readonly lines: readonly string[]
}

/** A receipt with a valid signature. */
export interface Checked {
  readonly claims: ReceiptClaims
  readonly kid: string
  readonly keysFrom: string
  /** The goods beside the receipt, as canonical JSON; they have the hash that is in it. */
  readonly goods: string | undefined
}

/** Strict at every level except the goods, of which every member is hashed. */
const Answer = ReceiptAnswer.extend({
  delivered: z.strictObject(Delivered.shape).optional(),
}).strict()

/** Any key set; keys of other kinds are ignored (RFC 7517). */
const KeySet = z.object({ keys: z.array(z.looseObject({ kid: z.string().optional() })) })
const Ed25519 = z.looseObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: z.string() })
const Header = z.object({ alg: z.literal('EdDSA'), kid: z.string(), typ: z.string() })

/**
 * Checks a delivery receipt and the goods beside it.
 *
 * @param text the JSON answer of the store, or the compact JWS alone
 * @param keysOf the keys of a store, by its address
 * @throws NotAReceipt
 */
export async function verifyReceipt(
  text: string,
  keysOf: (issuer: string) => Promise<Keys>,
): Promise<Verdict> {
  const { receipt, delivered } = answerIn(text)
  const { kid } = headerOf(receipt)
  const issuer = issuerOf(receipt)
  const { keys, from } = await keysOf(issuer)
  const key = keyIn(keys, kid, from)
  if (key === undefined) return notProven(`${from} has no key named ${kid}.`)
  const payload = await payloadOf(receipt, key)
  if (payload === undefined) {
    return notProven(`The signature is not that of ${issuer}: something was changed, or forged.`)
  }
  const claims = ReceiptClaims.safeParse(payload)
  if (!claims.success) return notProven('It is signed, but its content is not that of a receipt.')
  const fault = delivered && goodsFault(claims.data, delivered)
  if (fault !== undefined) return notProven(fault)
  const goods = delivered && canonicalJson(delivered.result)
  const checked = { claims: claims.data, kid, keysFrom: from, goods }
  const lines = [...provenLines(checked), '', ...notProvenLines(checked)]
  return { isProven: true, lines: lines.map(printable) }
}

function notProven(why: string): Verdict {
  return { isProven: false, lines: ['Nothing is proven by this.', `  ${printable(why)}`] }
}

function answerIn(text: string): ReceiptAnswer {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{')) return { receipt: trimmed }
  const answer = Answer.safeParse(decoded(() => strictJson(trimmed)))
  if (answer.success) return answer.data
  const [issue] = answer.error.issues
  if (issue?.code === 'unrecognized_keys') {
    const names = [...issue.path, issue.keys.join(', ')].join('.')
    throw new NotAReceipt(
      `This JSON has what no receipt has, and nothing vouches for it: ${printable(names)}.`,
    )
  }
  throw new NotAReceipt(
    `This JSON is no receipt: ${issue?.path.join('.') || 'its content'} is missing or malformed.`,
  )
}

function headerOf(receipt: string): z.infer<typeof Header> {
  const header = Header.safeParse(decoded(() => decodeProtectedHeader(receipt)))
  if (!header.success) throw new NotAReceipt('This is no receipt: its header is another.')
  if (header.data.typ === receiptType) return header.data
  throw new NotAReceipt(
    `This is signed, but as ${printable(header.data.typ)}, and not as ${receiptType}.`,
  )
}

/** The store that the receipt names. It is not verified yet. */
function issuerOf(receipt: string): string {
  const [, body = ''] = receipt.split('.')
  const claims = decoded(() => JSON.parse(Buffer.from(body, 'base64url').toString()))
  const said = z.object({ iss: z.url({ protocol: /^https?$/ }) }).safeParse(claims)
  if (said.success) return said.data.iss
  throw new NotAReceipt('This is no receipt: it does not name its store.')
}

function keyIn(keys: unknown, kid: string, from: string): z.infer<typeof Ed25519> | undefined {
  const set = KeySet.safeParse(keys)
  if (!set.success) throw new NotAReceipt(`${from} is no set of keys (RFC 7517).`)
  return Ed25519.safeParse(set.data.keys.find((key) => key.kid === kid)).data
}

/** The signed payload, or undefined when the signature is not by this key. */
async function payloadOf(
  receipt: string,
  { kty, crv, x }: z.infer<typeof Ed25519>,
): Promise<unknown> {
  try {
    const key = await importJWK({ kty, crv, x }, 'EdDSA')
    const { payload } = await compactVerify(receipt, key, { algorithms: ['EdDSA'] })
    return JSON.parse(Buffer.from(payload).toString())
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return undefined
    throw new NotAReceipt(`The signature cannot be checked: ${messageOf(error)}.`)
  }
}

function goodsFault({ delivery }: ReceiptClaims, delivered: Delivered): string | undefined {
  if (delivery === undefined) return 'Goods lie beside a receipt that says of no delivery.'
  const hash = decoded(() => deliveryHash(delivered))
  return hash === delivery.sha256
    ? undefined
    : 'The goods beside the receipt are not those that it is for: they or their salt were changed.'
}

function decoded<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new NotAReceipt(`This is no receipt: ${printable(messageOf(error))}.`)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
}

const keysTimeoutMs = 10_000
const localHosts = ['localhost', '127.0.0.1', '[::1]']

/**
 * Reads the keys that a store publishes. Only TLS proves that they are the store's own, so it is required,
 * except from a store on this machine.
 *
 * @throws NotAReceipt when the keys cannot be read
 */
export async function fetchedKeys(issuer: string): Promise<Keys> {
  const from = `${issuer}/.well-known/jwks.json`
  const { protocol, hostname } = new URL(issuer)
  if (protocol !== 'https:' && !(protocol === 'http:' && localHosts.includes(hostname))) {
    throw new NotAReceipt(
      `The receipt names ${issuer} as its store, and keys that come without TLS prove nothing. If you have its keys, give them with --keys.`,
    )
  }
  return { keys: await jsonAt(from), from }
}

async function jsonAt(url: string): Promise<unknown> {
  try {
    // After a redirect, another site would speak for this one.
    const options = { redirect: 'error', signal: AbortSignal.timeout(keysTimeoutMs) } as const
    const response = await fetch(url, options)
    if (!response.ok) throw new Error(`it answers ${response.status}`)
    return await response.json()
  } catch (error) {
    const why = error instanceof Error ? causeOf(error) : String(error)
    throw new NotAReceipt(`The keys at ${url} cannot be read: ${why}`)
  }
}

function causeOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message} (${cause.message})` : message
}

const strings = /"(?:[^"\\]|\\.)*"/g
const numbers = /-?\d[\d.eE+-]*/g

/**
 * Parses JSON that means the same to every parser (RFC 7493): no name twice in an object, no `__proto__`, no
 * number that JavaScript would round.
 *
 * @throws Error with what is wrong
 */
function strictJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // The JSON is valid here, so each colon outside of strings belongs to one member.
  const bare = text.replace(strings, '')
  const colons = bare.split(':').length - 1
  if (colons !== membersIn(value)) throw new Error('a name stands twice in one object')
  for (const [number] of bare.matchAll(numbers)) {
    if (JSON.stringify(Number(number)) !== number) {
      throw new Error(`the number ${number} is read as ${Number(number)}`)
    }
  }
  return value
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Object.hasOwn(value, '__proto__')) throw new Error('a name is "__proto__"')
  const inside = Object.values(value).reduce((sum: number, one) => sum + membersIn(one), 0)
  return Array.isArray(value) ? inside : inside + Object.keys(value).length
}
