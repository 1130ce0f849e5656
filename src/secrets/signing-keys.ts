import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { derivedBytes } from './derive.ts'
import { fromEach, type OperatorKeys } from './keyring.ts'

/** A public key as it is published (RFC 8037). */
export interface PublicJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  /** The key itself: 32 bytes in base64url. */
  readonly x: string
  /** The thumbprint of the key (RFC 7638), so that no two keys can have the same name. */
  readonly kid: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}

/** What the store signs with for others to check, who have nothing but what is published. */
export interface SigningKeys {
  /** Signs everything new; another one from when all nodes know it. */
  readonly current: SigningKey
  /** In the order of the operator's list: one that is not used yet, the current one, and those that only check. */
  readonly published: readonly PublicJwk[]
}

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  /** The signature, 64 bytes in base64url. Some tens of microseconds. */
  sign(bytes: Uint8Array): string
}

/** What stands before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, 7). */
const pkcs8Prefix = '302e020100300506032b657004220420'

/**
 * Ed25519 keys that follow from the vault's, so that every node agrees and nothing more has to be
 * kept safe.
 *
 * @param operatorKeys the vault's keys: the used one signs, all of them are published
 * @param purpose keeps these keys from being those of another use
 */
export function createSigningKeys(operatorKeys: OperatorKeys, purpose: string): SigningKeys {
  const { all, used } = fromEach(operatorKeys, (key) => pairOf(derivedBytes(key, purpose)))
  return {
    get current() {
      const { privateKey, published } = used()
      return {
        kid: published.kid,
        privateKey,
        sign: (bytes: Uint8Array) => sign(null, bytes, privateKey).toString('base64url'),
      }
    },
    published: all.map((pair) => pair.published),
  }
}

function pairOf(seed: Buffer): { readonly privateKey: KeyObject; readonly published: PublicJwk } {
  const der = Buffer.concat([Buffer.from(pkcs8Prefix, 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const named = { crv: 'Ed25519', kty: 'OKP', x } as const
  // The members that name a key, in the order of the alphabet, are what is hashed (RFC 7638, 3).
  const kid = createHash('sha256').update(JSON.stringify(named)).digest('base64url')
  return { privateKey, published: { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' } }
}
