import {
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { derivedBytes } from './derive.ts'
import { fromEach, type OperatorKeys } from './keyring.ts'

/**
 * Signs small statements that the store hands out and later gets back, so that nothing has to be
 * stored for a call that nobody paid for. Every node with the same operator keys agrees.
 */
export interface Signer {
  /** The statement with its signature, in letters, digits, `-`, `_` and one dot. */
  sign(statement: unknown): string
  /** The statement, or undefined when we did not sign it. */
  read(text: string): unknown
}

/**
 * @param operatorKeys the vault's keys: the used one signs, all of them verify
 * @param purpose keeps a statement signed for one use from being taken for another
 */
export function createSigner(operatorKeys: OperatorKeys, purpose: string): Signer {
  const { all, used } = fromEach(operatorKeys, (key) => derive(key, purpose))

  return {
    sign(statement) {
      const body = Buffer.from(JSON.stringify(statement)).toString('base64url')
      return `${body}.${macOf(used(), body).toString('base64url')}`
    },

    read(text) {
      const [body, mac, ...rest] = text.split('.')
      if (!body || !mac || rest.length > 0) return undefined
      const signedBy = (key: KeyObject) => sameHash(macOf(key, body).toString('base64url'), mac)
      if (!all.some(signedBy)) return undefined
      return JSON.parse(Buffer.from(body, 'base64url').toString())
    },
  }
}

/** A token that opens one order's goods: 256 random bits, shown once and kept only as a hash. */
export function newAccessToken(): string {
  return `kat_${randomBytes(32).toString('base64url')}`
}

/**
 * The same kind of token for a request that may come twice and must get the same one each time.
 *
 * @param digest of what only that request knows, keyed with a secret of the store: 32 bytes in hex
 */
export function accessTokenOf(digest: string): string {
  return `kat_${Buffer.from(digest, 'hex').toString('base64url')}`
}

/** SHA-256, in hex: how tokens and keys are kept. */
export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Compares two hashes without telling by its time where they differ. */
export function sameHash(one: string, other: string): boolean {
  return equal(Buffer.from(one), Buffer.from(other))
}

/** A keyed digest: recognises a value again that must not be stored, nor be guessed from what is. */
export interface Digest {
  of(text: string): string
  /** Its digest under each of the operator's keys, for looking it up among older ones. */
  every(text: string): readonly string[]
  /** Whether this was the digest of that text under any of the operator's keys. */
  matches(text: string, digest: string): boolean
}

/** @param purpose keeps digests for one use from being compared with those for another */
export function createDigest(operatorKeys: OperatorKeys, purpose: string): Digest {
  const { all, used } = fromEach(operatorKeys, (key) => derive(key, purpose))
  const hex = (key: KeyObject, text: string) => macOf(key, text).toString('hex')
  return {
    of: (text) => hex(used(), text),
    every: (text) => all.map((key) => hex(key, text)),
    matches: (text, digest) => all.some((key) => sameHash(hex(key, text), digest)),
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
