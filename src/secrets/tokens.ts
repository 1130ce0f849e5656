import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { derivedBytes, fromEach, type OperatorKeys } from './keys.ts'

/**
 * Signs small statements that callers send back later, so that the store keeps no state for unpaid
 * calls. Every node with the same operator keys accepts them.
 */
export type Signer = ReturnType<typeof createSigner>

/**
 * @param operatorKeys the vault's keys: the first one signs, all of them verify
 * @param purpose keeps a statement signed for one use from being taken for another
 */
export function createSigner(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = fromEach(operatorKeys, (key) => derive(key, purpose))

  return {
    /** The statement with its signature, in letters, digits, `-`, `_` and one dot. */
    sign(statement: unknown): string {
      const body = Buffer.from(JSON.stringify(statement)).toString('base64url')
      return `${body}.${macOf(current, body).toString('base64url')}`
    },

    /** The statement, or undefined when the signature is not the store's. */
    read(text: string): unknown {
      const [body, mac, ...rest] = text.split('.')
      if (!body || !mac || rest.length > 0) return undefined
      const signedBy = (key: KeyObject) => sameHash(macOf(key, body).toString('base64url'), mac)
      if (!all.some(signedBy)) return undefined
      return JSON.parse(Buffer.from(body, 'base64url').toString())
    },
  }
}

/** Creates the token that gives access to one order's goods: 256 random bits, stored only as a hash. */
export function newAccessToken(): string {
  return `kat_${randomBytes(32).toString('base64url')}`
}

/**
 * Derives the same kind of token for a request that may be repeated, so that it always gets the same one.
 *
 * @param digest of a secret of that request, keyed with a secret of the store: 32 bytes in hex
 */
export function accessTokenOf(digest: string): string {
  return `kat_${Buffer.from(digest, 'hex').toString('base64url')}`
}

/** SHA-256 in hex, the stored form of tokens and keys. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Compares two hashes in constant time. */
export function sameHash(one: string, other: string): boolean {
  return equal(Buffer.from(one), Buffer.from(other))
}

/** A keyed digest recognises a value that must neither be stored nor be guessable from the database. */
export type Digest = ReturnType<typeof createDigest>

/** @param purpose keeps digests for one use from being compared with those for another */
export function createDigest(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = fromEach(operatorKeys, (key) => derive(key, purpose))
  const hex = (key: KeyObject, text: string) => macOf(key, text).toString('hex')
  return {
    of: (text: string) => hex(current, text),
    /** The digests under all operator keys, to find entries made with older keys. */
    every: (text: string): readonly string[] => all.map((key) => hex(key, text)),
    /** Whether this is the digest of the text under any operator key. */
    matches: (text: string, digest: string) => all.some((key) => sameHash(hex(key, text), digest)),
  }
}

function derive(key: Buffer, purpose: string): KeyObject {
  return createSecretKey(derivedBytes(key, purpose))
}

function macOf(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function equal(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
