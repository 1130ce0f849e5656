import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { clientKeyOf, countingHere, limiterOf, limitRules, maxAtOnce } from './gate.ts'

const rule = { name: 'test', limit: 3, windowSeconds: 60 }

describe('a limiter', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('counts in a window that begins with the first request of a client', async () => {
    const limiter = limiterOf(rule, countingHere(rule))
    expect(await limiter.consume('a')).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
    vi.advanceTimersByTime(50_000)
    expect(await limiter.consume('a')).toEqual({ allowed: true, remaining: 1, resetSeconds: 10 })
    expect(await limiter.consume('b')).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
    vi.advanceTimersByTime(9_999)
    await limiter.consume('a')
    // What is refused makes nobody wait longer.
    for (let at = 0; at < 5; at += 1) {
      expect(await limiter.consume('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 })
    }
    vi.advanceTimersByTime(1)
    expect(await limiter.consume('a')).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
  })

  test('lets exactly as many of a crowd through as the limit says', async () => {
    const limiter = limiterOf(rule, countingHere(rule))
    const taken = await Promise.all(Array.from({ length: 50 }, () => limiter.consume('crowd')))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(3)
  })

  test('looking does not count, and says what taking would', async () => {
    const limiter = limiterOf(rule, countingHere(rule))
    const untouched = { allowed: true, remaining: 3, resetSeconds: 60 }
    expect(await limiter.peek('a')).toEqual(untouched)
    await limiter.consume('a')
    expect(await limiter.peek('a')).toMatchObject({ allowed: true, remaining: 2 })
    for (let at = 0; at < 3; at += 1) await limiter.consume('a')
    expect(await limiter.peek('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 60 })
    vi.setSystemTime(Date.now() + 60_000)
    expect(await limiter.peek('a')).toEqual(untouched)
  })
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['2001:db8:1:2:3::', '2001:db8:1:2::/64'],
  ['somebody', 'no address'],
  ['192.0.2.1.5', 'no address'],
  ['', 'no address'],
])('%s counts as %s', (address, key) => {
  expect(clientKeyOf(address)).toBe(key)
})

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

test('a GET that buys does not wait in turn behind the reads of its address', async () => {
  const { app, came } = storeOf()
  const route = { config: { limit: 'purchase', charges: true, findsOrders: true } } as const
  app.get('/pays', route, async () => came.length)
  const reads = Promise.all(Array.from({ length: 20 }, () => app.inject({ url: '/works' })))
  const paid = await app.inject({ url: '/pays' })
  expect(paid.json()).toBeLessThan(10)
  await reads
  expect(came).toHaveLength(20)
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
