import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
  timingSafeEqual,
} from 'node:crypto'
import type { Brand } from '../lib/ids.ts'

/** The operator's keys. All of them read; the first one seals and signs. */
export type OperatorKeys = readonly Buffer[]

function fromEach<T>(keys: OperatorKeys, make: (key: Buffer) => T) {
  const all = keys.map(make)
  const [current] = all
  if (current === undefined) throw new Error('The store needs a key; set SECRETS_KEY')
  return { all, current }
}

/** Bytes by HKDF (RFC 5869), the same at every node, that reveal neither the key nor those of another purpose. */
function derivedBytes(operatorKey: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', operatorKey, '', `kiosk402:${purpose}`, 32))
}

const derivedKeys = (operatorKeys: OperatorKeys, purpose: string) =>
  fromEach(operatorKeys, (key) => createSecretKey(derivedBytes(key, purpose)))

function macOf(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

export function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

export function sameHash(one: string, other: string): boolean {
  const [ours, theirs] = [Buffer.from(one), Buffer.from(other)]
  return ours.length === theirs.length && timingSafeEqual(ours, theirs)
}

/** So the store keeps no state for unpaid calls. The purpose keeps a signature to one use. */
export type Signer = ReturnType<typeof createSigner>

export function createSigner(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = derivedKeys(operatorKeys, purpose)
  return {
    /** The statement with its signature, in letters, digits, `-`, `_` and one dot. */
    sign(statement: unknown): string {
      const body = Buffer.from(JSON.stringify(statement)).toString('base64url')
      return `${body}.${macOf(current, body).toString('base64url')}`
    },

    verify(text: string): unknown {
      const [body, mac, ...rest] = text.split('.')
      if (!body || !mac || rest.length > 0) return undefined
      const signedBy = (key: KeyObject) => sameHash(macOf(key, body).toString('base64url'), mac)
      if (!all.some(signedBy)) return undefined
      return JSON.parse(Buffer.from(body, 'base64url').toString())
    },
  }
}

/** A keyed digest recognises a value that must neither be stored nor be guessable from the database. */
export type Digest = ReturnType<typeof createDigest>

export function createDigest(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = derivedKeys(operatorKeys, purpose)
  const hex = (key: KeyObject, text: string) => macOf(key, text).toString('hex')
  return {
    of: (text: string) => hex(current, text),
    every: (text: string): readonly string[] => all.map((key) => hex(key, text)),
    matches: (text: string, digest: string) => all.some((key) => sameHash(hex(key, text), digest)),
  }
}

/** Gives access to one order's goods; stored only as a hash. */
export function newAccessToken(): string {
  return accessTokenOf(randomBytes(32).toString('hex'))
}

/** The same token for a request that may be repeated, from a keyed digest of it: 32 bytes in hex. */
export function accessTokenOf(digest: string): string {
  return `kat_${Buffer.from(digest, 'hex').toString('base64url')}`
}

/** A value that only the vault can read. It reveals nothing, so it is safe to store and log. */
export type Sealed = Brand<string, 'Sealed'>

/** The order and field of a sealed value. Moved to another order or field, it does not open. */
export interface SealedFor {
  readonly order: string
  readonly field: 'recipient' | 'delivery' | 'webhook' | 'approval'
}

export type Vault = ReturnType<typeof createVault>

const cipherName = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16
/** Only full-length tags are accepted, because shorter ones are easier to forge. */
const cipherOptions = { authTagLength: tagBytes }

/** Each record has a random key, wrapped by the operator's key (docs/contributors/decisions/005). */
export function createVault(operatorKeys: OperatorKeys) {
  const { all, current: sealing } = fromEach(operatorKeys, (key) => ({
    id: keyIdOf(key),
    key: createSecretKey(key),
  }))
  const byId = new Map(all.map(({ id, key }) => [id, key]))

  return {
    seal(value: unknown, belonging: SealedFor): Sealed {
      const recordKey = randomBytes(32)
      const context = contextOf(belonging, sealing.id)
      const wrapped = encrypt(sealing.key, recordKey, context)
      const body = encrypt(createSecretKey(recordKey), Buffer.from(JSON.stringify(value)), context)
      return ['v1', sealing.id, wrapped, body].join('.') as Sealed
    },

    /** @throws when the value was changed, belongs to another field, or its key is not configured */
    open(sealed: Sealed, belonging: SealedFor): unknown {
      const [format, keyId, wrapped, body, ...rest] = sealed.split('.')
      const key = byId.get(keyId ?? '')
      if (format !== 'v1' || !key || !keyId || !wrapped || !body || rest.length > 0) {
        throw new Error('This sealed value names a key that is not configured')
      }
      const context = contextOf(belonging, keyId)
      const recordKey = decrypt(key, wrapped, context)
      return JSON.parse(decrypt(createSecretKey(recordKey), body, context).toString())
    },
  }
}

/** Seals what leaves the store in an address, shorter than the vault does. */
export type Envelope = ReturnType<typeof createEnvelope>

/** One key, with random nonces of 96 bits: good for 2^32 values (NIST SP 800-38D, 8.3). */
export function createEnvelope(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = derivedKeys(operatorKeys, purpose)
  const context = Buffer.from(purpose)
  return {
    /** In letters, digits, `-` and `_`; no two are equal. */
    seal: (value: unknown): string => encrypt(current, Buffer.from(JSON.stringify(value)), context),

    /** What we have sealed; undefined for any other text. */
    open(text: string): unknown {
      for (const key of all) {
        try {
          return JSON.parse(decrypt(key, text, context).toString())
        } catch {}
      }
      return undefined
    },
  }
}

export function keyIdOf(key: Buffer): string {
  if (key.length !== 32) throw new Error('A vault key has 32 bytes')
  return createHash('sha256').update('vault-key-id').update(key).digest('hex').slice(0, 12)
}

function contextOf({ order, field }: SealedFor, keyId: string): Buffer {
  return Buffer.from([order, field, keyId].join('|'))
}

function encrypt(key: KeyObject, plain: Buffer, context: Buffer): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(cipherName, key, iv, cipherOptions).setAAD(context)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
}

function decrypt(key: KeyObject, text: string, context: Buffer): Buffer {
  const bytes = Buffer.from(text, 'base64url')
  // Node decodes several spellings to the same bytes; only the canonical one is accepted.
  if (bytes.toString('base64url') !== text) throw new Error('This sealed value was changed')
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, ivBytes), cipherOptions)
    .setAAD(context)
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
}

export type PublicJwk = ReturnType<typeof pairOf>['published']

export type SigningKeys = ReturnType<typeof createSigningKeys>

/** The bytes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, 7). */
const pkcs8Prefix = '302e020100300506032b657004220420'

/** Derives Ed25519 keys, so that all nodes have the same ones and operators have no further secret to protect. */
export function createSigningKeys(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = fromEach(operatorKeys, (key) => pairOf(derivedBytes(key, purpose)))
  return {
    current: {
      kid: current.published.kid,
      privateKey: current.privateKey,
      sign: (bytes: Uint8Array) => sign(null, bytes, current.privateKey).toString('base64url'),
    },
    published: all.map((pair) => pair.published),
  }
}

function pairOf(seed: Buffer) {
  const der = Buffer.concat([Buffer.from(pkcs8Prefix, 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const named = { crv: 'Ed25519', kty: 'OKP', x } as const
  // The thumbprint of the required members in alphabetical order (RFC 7638, 3): no two keys have the same name.
  const kid = createHash('sha256').update(JSON.stringify(named)).digest('base64url')
  return { privateKey, published: { ...named, kid, alg: 'EdDSA', use: 'sig' } as const }
}

/** They cannot be revoked, so they are short-lived. */
interface TimedToken {
  readonly names: readonly string[]
  readonly expiresAt: Date
}

export function issueToken(signer: Signer, prefix: string, { names, expiresAt }: TimedToken) {
  return `${prefix}${signer.sign([prefix, names, Math.floor(expiresAt.getTime() / 1_000)])}`
}

/** The content of a token that we signed, even if it has expired; undefined for any other text. */
export function readToken(
  signer: Signer,
  prefix: string,
  token: string | undefined,
): TimedToken | undefined {
  if (!token?.startsWith(prefix)) return undefined
  // The signer returns only what we have signed, so its shape needs no check.
  const signed = signer.verify(token.slice(prefix.length)) as
    | readonly [prefix: string, names: readonly string[], until: number]
    | undefined
  if (signed?.[0] !== prefix) return undefined
  return { names: signed[1], expiresAt: new Date(signed[2] * 1_000) }
}
