import * as z from 'zod'
import type { PublicJwk } from '../../secrets/signing-keys.ts'
import { answers, type StoreOperation } from '../operation.ts'
import type { Site } from '../site.ts'

/** One key of `/.well-known/jwks.json` (RFC 7517, RFC 8037). */
const Jwk = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().describe('The public key: 32 bytes in base64url'),
  kid: z.string().describe('The thumbprint of the key (RFC 7638)'),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
})

/** What `/.well-known/jwks.json` answers: the keys that check what this store signed. */
export const JwkSet = z.object({ keys: z.array(Jwk) })

/** What `/.well-known/did.json` answers: the same keys, as did:web names them. */
export const DidDocument = z.object({
  '@context': z.array(z.string()),
  id: z.string(),
  verificationMethod: z.array(
    z.object({
      id: z.string(),
      type: z.literal('JsonWebKey2020'),
      controller: z.string(),
      publicKeyJwk: Jwk,
    }),
  ),
  assertionMethod: z.array(z.string()),
})

const published = {
  method: 'GET',
  group: 'Store',
  refusals: [],
  limit: 'reading',
  access: 'free',
  // Short, because signatures by a new key cannot be verified before clients read the key.
  cacheControl: 'public, max-age=60',
} as const

/** The keys that verify the store's signatures, at both paths where clients look for them. */
export const keySets: readonly StoreOperation[] = [
  {
    ...published,
    id: 'jwks',
    path: '/.well-known/jwks.json',
    name: 'Keys',
    description: 'The public keys that check signed offers and receipts, as a JWK set (RFC 7517).',
    answers: answers('The keys', JwkSet),
    run: ({ keys }) => ({ body: { keys: [...keys.published] } }),
  },
  {
    ...published,
    id: 'did',
    path: '/.well-known/did.json',
    name: 'Keys, as did:web names them',
    description: 'The same keys as a DID document. A store below a path has it at /did.json there.',
    answers: answers('The document', DidDocument),
    servedAt: didPath,
    run: ({ site, keys }) => ({ body: didDocument(site, keys.published) }),
  },
]

/** The did:web of the store as a signer, made from its URL. */
export function didOf({ url }: Site): string {
  const { host, pathname } = new URL(url)
  const parts = [host, ...pathname.split('/').filter((part) => part !== '')]
  return ['did', 'web', ...parts.map(encodeURIComponent)].join(':')
}

/** The path of the did:web document, which depends on whether the store is published below a path. */
function didPath({ url }: Site): string {
  return new URL(url).pathname === '/' ? '/.well-known/did.json' : '/did.json'
}

/** The keys of the store as a DID document. */
function didDocument(site: Site, published: readonly PublicJwk[]): z.infer<typeof DidDocument> {
  const id = didOf(site)
  const methods = published.map((publicKeyJwk) => ({
    id: `${id}#${publicKeyJwk.kid}`,
    type: 'JsonWebKey2020' as const,
    controller: id,
    publicKeyJwk,
  }))
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  }
}
