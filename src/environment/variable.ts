import { isIP } from 'node:net'
import { type Hex, isAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import * as z from 'zod'

/** For docs/operators/configuration.md and .env.example. */
export interface About {
  /** Its first sentence also stands in .env.example. */
  readonly description: string
  /** While it is not set, if the schema has no default. */
  readonly unset?: string
  /** If live mode requires it. */
  readonly required?: string
  /** Shown instead of the default. */
  readonly example?: string
  /** Whether nodes of one store may differ in it: freely, or only in the value while all or none set it. */
  readonly perNode?: 'value' | 'if set'
  readonly needs?: readonly string[]
  /** A URL that can carry a password or a key is secret too. */
  readonly isSecret?: true
}

const documented = z.registry<About>()

export function variable<Schema extends z.ZodType>(schema: Schema, about: About): Schema {
  documented.add(schema, about)
  return schema
}

export function aboutOf(schema: z.ZodType): About | undefined {
  return documented.get(schema)
}

export function wholeWithin(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`
  return z.coerce.number(message).int(message).min(least, message).max(most, message)
}

export const whole = (fallback: number, least: number, most: number) =>
  wholeWithin(least, most).default(fallback)

export const url = (protocol: RegExp) => z.url({ protocol, error: 'must be a URL' })
/** Scheme and host in lower case, a path, no default port. */
export const plainUrl = (text: string) => URL.parse(text)?.href ?? text
export const address = z
  .string()
  .refine(
    (text) => isAddress(text),
    'must be an address: 0x and 40 hexadecimal digits, in lower case or with a right checksum',
  )
export const privateKey = () =>
  z
    .string()
    .refine(
      (key) => /^0x[0-9a-fA-F]{64}$/.test(key) && walletOf(key) !== undefined,
      'must be a private key: 0x and 64 hexadecimal digits',
    )
    .transform((key) => key.toLowerCase() as `0x${string}`)
export const matching = (form: RegExp, message: string) => z.string().regex(form, message)
export const atLeast16 = z.string().min(16, 'must have at least 16 characters')
export const list = z.string().transform(listOf)

export function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
}

/** In lower case; undefined for an invalid key. The error is dropped because it contains the key. */
export function walletOf(key: string): string | undefined {
  try {
    return privateKeyToAddress(key as Hex).toLowerCase()
  } catch {
    return undefined
  }
}

const names = ['loopback', 'linklocal', 'uniquelocal']

/** A number of hops, or addresses. */
export type TrustedProxies = number | readonly string[]

/** Undefined for a host name, or "true", which would trust everyone. */
export function trustedProxiesIn(text: string): TrustedProxies | undefined {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  const parts = text.split(',').map((part) => part.trim())
  return parts.every((part) => names.includes(part) || isNetwork(part)) ? parts : undefined
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && fits(address, version, Number(bits)))
}

/** Refuses a network of every address, also an IPv4 network mapped into IPv6 whose prefix counts only IPv4 bits. */
function fits(address: string, version: number, bits: number): boolean {
  const least = /^::ffff:/i.test(address) ? 97 : 1
  return bits >= least && bits <= (version === 4 ? 32 : 128)
}
