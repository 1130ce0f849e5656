import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { limitRules } from './rate-limit.ts'
import { type TurnBounds, usualBounds } from './turns.ts'

const opened: FastifyInstance[] = []
afterEach(async () => {
  for (const app of opened.splice(0)) {
    app.server.closeAllConnections()
    await app.close()
  }
})

/**
 * A store with a route that answers when the test says so, one that records its callers, and one with a long answer.
 */
function storeOf(bounds: Partial<TurnBounds> = {}) {
  const { app, pass } = testApp({ turns: { ...usualBounds, ...bounds } })
  opened.push(app)
  const came: string[] = []
  const waiting: (() => void)[] = []
  app.get('/waits', () => new Promise((resolve) => waiting.push(() => resolve({}))))
  app.get('/notes', async ({ ip }) => {
    came.push(ip)
    return {}
  })
  app.get('/long', () => Buffer.alloc(32 * 1024 * 1024))
  const get = (url: string, remoteAddress: string) => app.inject({ url, remoteAddress })
  return { app, came, waiting, get, pass }
}

describe('one client address', () => {
  test('has so many requests under way on any route, and the next one is refused', async () => {
    const { app, waiting, get } = storeOf({ maxAtOnce: 3 })
    const underWay = [1, 2, 3].map(() => get('/waits', '192.0.2.1'))
    await expect.poll(() => waiting.length).toBe(3)
    const refused = await app.inject({
      url: '/api/catalog/topups',
      remoteAddress: '::ffff:192.0.2.1',
    })
    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'access-control-allow-origin': '*',
      'x-request-id': expect.any(String),
    })
    expect(refused.json()).toMatchObject({ code: 'rate_limited', retryable: true })
    expect((await get('/notes', '192.0.2.2')).statusCode).toBe(200)
    for (const answer of waiting) answer()
    for (const answer of await Promise.all(underWay)) expect(answer.statusCode).toBe(200)
    expect((await get('/notes', '192.0.2.1')).statusCode).toBe(200)
  })

  test('is let in above that to find what it has paid for, and told that money may have moved', async () => {
    const { app, waiting, pass } = storeOf({ maxAtOnce: 1 })
    const buying = { charges: true, findsOrders: true } as const
    app.post('/buys', { config: buying }, async ({ heldUp }) => ({ heldUp: heldUp?.code }))
    const buy = (headers: Record<string, string>) =>
      app.inject({ method: 'POST', url: '/buys', headers, remoteAddress: '192.0.2.1' })
    const underWay = app.inject({ url: '/waits', remoteAddress: '192.0.2.1' })
    await expect.poll(() => waiting.length).toBe(1)
    expect((await buy({})).json()).toMatchObject({ code: 'rate_limited', charged: 'no' })
    const paid = { 'payment-signature': 'e30=' }
    for (let at = 0; at < limitRules.reading.limit; at += 1) {
      expect((await buy(paid)).json()).toEqual({ heldUp: 'rate_limited' })
    }
    expect((await buy(paid)).json()).toMatchObject({ code: 'rate_limited', charged: 'unknown' })
    pass(60_001)
    expect((await buy(paid)).json()).toEqual({ heldUp: 'rate_limited' })
    for (const answer of waiting) answer()
    await underWay
    expect((await buy(paid)).json()).toEqual({})
  })

  test('that opens many connections is served a little while others are taken', async () => {
    const { app, came } = storeOf()
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const ask = async (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress })
      socket.write('GET /notes HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      await once(socket.resume(), 'close')
    }
    const flood = Array.from({ length: 60 }, () => ask('127.0.0.1'))
    const honest = ask('127.0.0.2')
    await Promise.all([...flood, honest])
    expect(came).toHaveLength(61)
    expect(came.indexOf('127.0.0.2')).toBeLessThanOrEqual(2 * usualBounds.perTurn)
  })

  test('that sends request after request unread has no more of them under way', async () => {
    const { app, waiting, get } = storeOf({ maxAtOnce: 8 })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.pause().write('GET /waits HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(500))
    await expect.poll(() => waiting.length).toBe(8)
    expect((await get('/notes', '127.0.0.1')).statusCode).toBe(429)
    expect(waiting).toHaveLength(8)
    socket.destroy()
    await expect.poll(async () => (await get('/notes', '127.0.0.1')).statusCode).toBe(200)
  })

  test('that hung up while it waited for its turn is not worked for', async () => {
    const { app, came } = storeOf({ perTurn: 1 })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as AddressInfo
    const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'))
    const closed = sockets.map((socket) => once(socket.resume(), 'close'))
    for (const socket of sockets) socket.end('GET /notes HTTP/1.1\r\nhost: x\r\n\r\n')
    await Promise.all(closed)
    expect(came.length).toBeLessThan(5)
  })

  test('begins a few requests in a turn of the event loop, so that nobody waits behind all of them', async () => {
    const { came, get } = storeOf({ maxAtOnce: 300, perTurn: 4 })
    const flood = Array.from({ length: 300 }, () => get('/notes', '192.0.2.1'))
    const honest = get('/notes', '192.0.2.2')
    await Promise.all([...flood, honest])
    expect(came).toHaveLength(301)
    expect(came.indexOf('192.0.2.2')).toBeLessThanOrEqual(4)
  })
})

test('an answer that nobody reads is cut off, and counts until then', async () => {
  const { app, get } = storeOf({ maxAtOnce: 1, readWithinMs: 200 })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.pause().write('GET /long HTTP/1.1\r\nhost: x\r\n\r\n')
  socket.on('error', () => undefined)
  await expect.poll(async () => (await get('/notes', '127.0.0.1')).statusCode).toBe(429)
  await expect.poll(async () => (await get('/notes', '127.0.0.1')).statusCode).toBe(200)
  socket.destroy()
})
