import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { derivedBytes, fromEach, type OperatorKeys } from './keyring.ts'

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

/** The keys for signatures that anyone can verify with the published keys. */
export type SigningKeys = ReturnType<typeof createSigningKeys>

/** The bytes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, 7). */
const pkcs8Prefix = '302e020100300506032b657004220420'

/**
 * Derives Ed25519 keys from the vault's keys, so that all nodes have the same ones and operators have no
 * further secret to protect.
 *
 * @param operatorKeys the vault's keys: the first one signs, all of them are published
 * @param purpose keeps these keys from being those of another use
 */
export function createSigningKeys(operatorKeys: OperatorKeys, purpose: string) {
  const { all, current } = fromEach(operatorKeys, (key) => pairOf(derivedBytes(key, purpose)))
  return {
    current: {
      kid: current.published.kid,
      privateKey: current.privateKey,
      /** The signature, 64 bytes in base64url. */
      sign: (bytes: Uint8Array) => sign(null, bytes, current.privateKey).toString('base64url'),
    },
    /** In the order of the operator's list, the current one first. */
    published: all.map((pair) => pair.published),
  }
}

function pairOf(seed: Buffer) {
  const der = Buffer.concat([Buffer.from(pkcs8Prefix, 'hex'), seed])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const named = { crv: 'Ed25519', kty: 'OKP', x } as const
  // The thumbprint hashes the required members in alphabetical order (RFC 7638, 3).
  const kid = createHash('sha256').update(JSON.stringify(named)).digest('base64url')
  const published: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }
  return { privateKey, published }
}
