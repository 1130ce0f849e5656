import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { serveParent } from './child.ts'

/** A bare Fastify route that sends bodies of these lengths in turn. */
export interface Bare {
  readonly lengths: readonly number[]
}

await serveParent<Bare>(async ({ lengths }) => {
  const bodies = lengths.map((length) => Buffer.alloc(length, ' '))
  let at = 0
  const app = Fastify()
  app.get('/ai/topups', (_, reply) => {
    at = (at + 1) % bodies.length
    return reply.header('content-type', 'application/json; charset=utf-8').send(bodies[at])
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { told: { port }, stop: () => app.close() }
})
