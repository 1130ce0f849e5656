import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { closeApp } from '../http/app.ts'
import { serveHandedOffConnections } from './connection-handoff.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** An app that serves handed-off connections, and clients of it. */
async function serveApp(app: FastifyInstance) {
  let take: ((connection: Socket) => unknown) | undefined
  await serveHandedOffConnections(app, {
    handle(_, handler) {
      take = (connection) => handler(null as never, connection)
    },
  })
  const taken: unknown[] = []
  const server = createServer((connection) => taken.push(take?.(connection)))
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connectWith = (text: string) => {
    const client = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    client.on('error', () => undefined)
    client.write(text)
    return client
  }
  return { connectWith, taken }
}

const getRequest = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

test('answers 408 to a slow request, like a listening server', async () => {
  const http = { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 }
  const app = Fastify({ http })
  const { connectWith } = await serveApp(app)
  expect(await text(connectWith('GET / HTTP/1.1\r\nhost:'))).toContain('HTTP/1.1 408')
  await closeApp(app)
})

test('closing finishes requests, ends streams and refuses new connections', async () => {
  const app = Fastify()
  const answer = Promise.withResolvers<string>()
  const begun = { slow: false, stream: false }
  app.get('/slow', () => {
    begun.slow = true
    return answer.promise
  })
  app.register(async (pages) => {
    const streams = new Set<{ end(): void }>()
    pages.get('/stream', (_, reply) => {
      reply.hijack()
      reply.raw.flushHeaders()
      streams.add(reply.raw)
      begun.stream = true
    })
    pages.addHook('preClose', async () => {
      for (const stream of streams) stream.end()
    })
  })
  const { connectWith, taken } = await serveApp(app)
  const slow = connectWith(getRequest('/slow'))
  const stream = connectWith(getRequest('/stream'))
  await expect.poll(() => begun).toEqual({ slow: true, stream: true })
  let isClosed = false
  const closing = closeApp(app).then(() => {
    isClosed = true
  })
  await text(stream)
  const late = connectWith(getRequest('/slow'))
  await expect.poll(() => taken).toEqual([true, true, false])
  await text(late).catch(() => undefined)
  expect(isClosed).toBe(false)
  answer.resolve('at last')
  expect(await text(slow)).toContain('at last')
  await closing
})
