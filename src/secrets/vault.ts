import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { Brand } from '../lib/brand.ts'
import { fromEach, type OperatorKeys } from './keys.ts'

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

/**
 * Envelope encryption (docs/contributors/decisions/005): each record has a random key, wrapped by the
 * operator's key. A new key is listed last at every node before it is listed first at any.
 *
 * @param operatorKeys 32 bytes each; the first one seals, all of them open
 */
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

/** Names a key without revealing it. */
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
  const iv = bytes.subarray(0, ivBytes)
  const tag = bytes.subarray(ivBytes, ivBytes + tagBytes)
  const decipher = createDecipheriv(cipherName, key, iv, cipherOptions)
    .setAAD(context)
    .setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
}
