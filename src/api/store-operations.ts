import { DidDocument, JwkSet } from './keys.ts'
import { answers, type Operation } from './operation.ts'
import { catalogPrefix, manifestPath } from './paths.ts'
import { LiveAnswer, ReadyAnswer } from './shapes/health.ts'
import { ManifestAnswer } from './shapes/manifest.ts'

/** What is asked about the store itself. */

const manifest = {
  method: 'GET',
  group: 'Store',
  name: 'Manifest',
  description:
    'Who runs the store, every operation with the schema of its input, when goods come and when money goes back, and in signals whether to buy now. Read signals before each purchase: stop means that purchases are refused.',
  answers: answers('The manifest', ManifestAnswer),
  refusals: [],
  limit: 'reading',
  access: 'free',
} as const

/** The same manifest at both addresses where clients look for it. */
export const manifests: readonly Operation[] = [
  { ...manifest, id: 'manifest', path: manifestPath },
  { ...manifest, id: 'catalogManifest', path: catalogPrefix },
]

const published = {
  method: 'GET',
  group: 'Store',
  refusals: [],
  limit: 'reading',
  access: 'free',
} as const

/** The keys that check what the store signs, at both addresses where they are looked for. */
export const keySets: readonly Operation[] = [
  {
    ...published,
    id: 'jwks',
    path: '/.well-known/jwks.json',
    name: 'Keys',
    description: 'The public keys that check signed offers and receipts, as a JWK set (RFC 7517).',
    answers: answers('The keys', JwkSet),
  },
  {
    ...published,
    id: 'did',
    path: '/.well-known/did.json',
    name: 'Keys, as did:web names them',
    description: 'The same keys as a DID document. A store below a path has it at /did.json there.',
    answers: answers('The document', DidDocument),
  },
]

const health = { method: 'GET', group: 'Store', refusals: [], access: 'free' } as const

export const live: Operation = {
  ...health,
  id: 'live',
  path: '/livez',
  name: 'Is the process alive',
  description: 'Answers as long as the process does.',
  answers: answers('It is', LiveAnswer),
}

export const ready: Operation = {
  ...health,
  id: 'ready',
  path: '/readyz',
  name: 'Does the store take purchases',
  description:
    'The health of each part. With 503 purchases are refused until every part is back; then they go on by themselves.',
  answers: {
    200: { description: 'It does', shape: ReadyAnswer },
    503: { description: 'It does not; the parts say why', shape: ReadyAnswer },
  },
}
