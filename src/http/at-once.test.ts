import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { maxAtOnce } from './at-once.ts'
import { limitRules } from './rate-limit.ts'

const opened: FastifyInstance[] = []
afterEach(async () => {
  for (const app of opened.splice(0)) {
    app.server.closeAllConnections()
    await app.close()
  }
})

/** A store with a route that answers when the test says so, and one that works for five milliseconds. */
function storeOf() {
  const { app, pass } = testApp()
  opened.push(app)
  const came: string[] = []
  const waiting: (() => void)[] = []
  app.get('/waits', () => new Promise((resolve) => waiting.push(() => resolve({}))))
  app.get('/works', { config: { limit: 'reading' } }, async ({ ip }) => {
    came.push(ip)
    const end = performance.now() + 5
    while (performance.now() < end);
    return {}
  })
  const get = (url: string, remoteAddress: string) => app.inject({ url, remoteAddress })
  const occupy = async () => {
    const underWay = Array.from({ length: maxAtOnce }, () => get('/waits', '192.0.2.1'))
    await expect.poll(() => waiting.length).toBe(maxAtOnce)
    return underWay
  }
  return { app, came, waiting, get, pass, occupy }
}

test('an address has so many requests under way, and the next one is refused', async () => {
  const { app, waiting, get, occupy } = storeOf()
  const underWay = await occupy()
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
  expect((await get('/works', '192.0.2.2')).statusCode).toBe(200)
  for (const answer of waiting) answer()
  for (const answer of await Promise.all(underWay)) expect(answer.statusCode).toBe(200)
  expect((await get('/works', '192.0.2.1')).statusCode).toBe(200)
})

test('above that it is let in to find what it has paid for, and told that money may have moved', async () => {
  const { app, waiting, pass, occupy } = storeOf()
  const buying = { charges: true, findsOrders: true } as const
  app.post('/buys', { config: buying }, async ({ heldUp }) => ({ heldUp: heldUp?.code }))
  const buy = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/buys', headers, remoteAddress: '192.0.2.1' })
  const underWay = await occupy()
  expect((await buy({})).json()).toMatchObject({ code: 'rate_limited', charged: 'no' })
  const paid = { 'payment-signature': 'e30=' }
  for (let at = 0; at < limitRules.reading.limit; at += 1) {
    expect((await buy(paid)).json()).toEqual({ heldUp: 'rate_limited' })
  }
  expect((await buy(paid)).json()).toMatchObject({ code: 'rate_limited', charged: 'unknown' })
  pass(60_001)
  expect((await buy(paid)).json()).toEqual({ heldUp: 'rate_limited' })
  for (const answer of waiting) answer()
  await Promise.all(underWay)
  expect((await buy(paid)).json()).toEqual({})
})

test('many reads of one address delay another address by a few of them', async () => {
  const { app, came } = storeOf()
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const ask = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.write('GET /works HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    await once(socket.resume(), 'close')
  }
  const flood = Array.from({ length: 60 }, () => ask('127.0.0.1'))
  await Promise.all([...flood, ask('127.0.0.2')])
  expect(came).toHaveLength(61)
  expect(came.indexOf('127.0.0.2')).toBeLessThan(30)
})

test('a read whose client hung up before its turn is not worked for', async () => {
  const { app, came } = storeOf()
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'))
  const closed = sockets.map((socket) => once(socket.resume(), 'close'))
  for (const socket of sockets) socket.end('GET /works HTTP/1.1\r\nhost: x\r\n\r\n')
  await Promise.all(closed)
  expect(came.length).toBeLessThan(40)
})
