import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { Brand } from '../lib/brand.ts'
import { fromEach, type OperatorKeys } from './keyring.ts'

/** Something only the vault can read. Safe to store and to log, because it tells nothing. */
export type Sealed = Brand<string, 'Sealed'>

/** What a sealed value belongs to. Moved to another order or field, it no longer opens. */
export interface SealedFor {
  readonly order: string
  readonly field: 'recipient' | 'delivery'
}

export interface Vault {
  seal(value: unknown, belonging: SealedFor): Sealed
  /** @throws when it was tampered with, belongs elsewhere, or its key is not configured */
  open(sealed: Sealed, belonging: SealedFor): unknown
}

const cipherName = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16
/** A tag that was cut short would be easier to forge, so only a whole one is taken. */
const cipherOptions = { authTagLength: tagBytes }

/**
 * Envelope encryption (docs/decisions/005): each record has a random key of its own, wrapped by the
 * operator's key. Rotating the operator's key means adding a new first one and keeping the old;
 * it is used as soon as every node knows it.
 *
 * @param operatorKeys 32 bytes each; the used one seals, all of them open
 */
export function createVault(operatorKeys: OperatorKeys): Vault {
  const { all, used } = fromEach(operatorKeys, (key) => ({
    id: keyIdOf(key),
    key: createSecretKey(key),
  }))
  const byId = new Map(all.map(({ id, key }) => [id, key]))

  return {
    seal(value, belonging) {
      const current = used()
      const recordKey = randomBytes(32)
      const context = contextOf(belonging, current.id)
      const wrapped = encrypt(current.key, recordKey, context)
      const body = encrypt(createSecretKey(recordKey), Buffer.from(JSON.stringify(value)), context)
      return ['v1', current.id, wrapped, body].join('.') as Sealed
    },

    open(sealed, belonging) {
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

/** Names a key without telling anything of it. */
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
  // Node reads many spellings of the same bytes; only the one that was written is ours.
  if (bytes.toString('base64url') !== text) throw new Error('This sealed value was changed')
  const iv = bytes.subarray(0, ivBytes)
  const tag = bytes.subarray(ivBytes, ivBytes + tagBytes)
  const decipher = createDecipheriv(cipherName, key, iv, cipherOptions)
    .setAAD(context)
    .setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
}
