import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'

/** The operator's keys. All of them read; the first one seals and signs. */
export type OperatorKeys = readonly Buffer[]

/**
 * Maps every key, and gives the mapped value of the first.
 *
 * @throws when there is no key
 */
export function fromEach<T>(
  keys: OperatorKeys,
  make: (key: Buffer) => T,
): { readonly all: readonly T[]; readonly current: T } {
  const all = keys.map(make)
  const [current] = all
  if (current === undefined) throw new Error('The store needs a key; set SECRETS_KEY')
  return { all, current }
}

/**
 * Derives 32 bytes from an operator key and a purpose (HKDF, RFC 5869). They reveal neither the key nor
 * the bytes of another purpose. Every node with the same key derives the same bytes.
 */
export function derivedBytes(operatorKey: Buffer, purpose: string): Buffer {
  const derived = hkdfSync('sha256', operatorKey, Buffer.alloc(0), `kiosk402:${purpose}`, 32)
  return Buffer.from(derived)
}

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
