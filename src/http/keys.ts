import type { FastifyInstance } from 'fastify'
import type * as z from 'zod'
import { didDocument, didPath, type JwkSet } from '../api/keys.ts'
import type { Site } from '../api/site.ts'
import type { PublicJwk } from '../secrets/signing-keys.ts'

export interface KeyDeps {
  readonly site: Site
  readonly keys: { readonly published: readonly PublicJwk[] }
}

/** The public keys, at the two addresses where those who check a signature look for them. */
export function routeKeys(app: FastifyInstance, { site, keys }: KeyDeps): void {
  const set: z.infer<typeof JwkSet> = { keys: [...keys.published] }
  const document = didDocument(site, keys.published)
  const limited = { config: { limit: 'reading' } } as const
  app.get('/.well-known/jwks.json', limited, (_, reply) =>
    reply.header('cache-control', kept).send(set),
  )
  app.get(didPath(site), limited, (_, reply) => reply.header('cache-control', kept).send(document))
}

/** Short, because a signature of a new key is no good before the key can be read. */
const kept = 'public, max-age=60'
