import { timingSafeEqual } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import type { z } from 'zod'

/** A server of the sandbox that listens. */
export interface Part {
  readonly url: string
  readonly port: number
  /** Ends every connection, timer and report; what was begun goes on after the next start. */
  stop(): Promise<void>
}

/** Names of this machine. A page that uses DNS rebinding calls it by another name. */
const ownNames = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/**
 * A server of the sandbox, which refuses requests from foreign web pages: those with another host name, or from
 * another origin. It accepts an empty body with a JSON content type.
 *
 * @param instance the id of its data file, for `GET /healthz`
 * @param notJson the refusal of a body that is no JSON
 */
export function openPart(instance: string, notJson: () => Error): FastifyInstance {
  const app = fastify({ forceCloseConnections: true })
  app.addHook('onRequest', async ({ headers: { host = '', origin } }, reply) => {
    const isOwn = origin === undefined || ownNames.test(origin.replace(/^https?:\/\//, ''))
    if (ownNames.test(host) && isOwn) return
    return reply.code(403).send({ error: 'The sandbox answers this machine alone.' })
  })
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch {
      done(notJson())
    }
  })
  app.get('/healthz', () => ({ ok: true, instance }))
  return app
}

/** Listens on 127.0.0.1. */
export async function listenHere(
  app: FastifyInstance,
  port: number,
  close: () => void,
): Promise<Part> {
  await app.listen({ host: '127.0.0.1', port })
  const address = app.server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    async stop() {
      close()
      await app.close()
    },
  }
}

export function isSame(given: string | undefined, wanted: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** `input` parsed by `schema`. @throws what `refuse` makes of the faulty fields */
export function parsedOr<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  refuse: (faults: readonly { readonly path: string; readonly message: string }[]) => Error,
): z.infer<Schema> {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw refuse(result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })))
}
