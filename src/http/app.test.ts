import { connect } from 'node:net'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { invalidBody } from '../lib/refusal.ts'
import { createLog } from '../logging/log.ts'
import { website } from '../web/frame/website.fixture.ts'
import { logAccess, type MetricsDeps, routeMetrics } from './app.ts'
import { createLimits } from './gate.ts'

describe('methods and paths', () => {
  const { app } = testApp()

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'] as const)(
    '%s on a reading path is 405 with Allow, whatever the body',
    async (method) => {
      for (const url of ['/ai', '/ai/vouchers', '/api/catalog/esims/offers/X']) {
        const answer = await app.inject({
          method,
          url,
          headers: { 'content-type': 'text/plain' },
          payload: 'x',
        })
        expect(answer.statusCode).toBe(405)
        expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS')
        expect(answer.body).toContain(`${method} is not allowed here; use GET or HEAD.`)
        expect(answer.headers['access-control-allow-origin']).toBe('*')
        if (url === '/ai/vouchers') expect(answer.headers['ratelimit']).toContain('"discovery"')
      }
    },
  )

  test('an unknown path is 404 in the words of its interface', async () => {
    const ai = await app.inject('/ai/nothing')
    expect([ai.statusCode, ai.json()]).toEqual([
      404,
      { error: 'There is nothing at this address.' },
    ])
    const catalog = await app.inject('/api/catalog/nothing')
    expect(catalog.statusCode).toBe(404)
    expect(catalog.headers['content-type']).toContain('application/problem+json')
    expect(catalog.json()).toMatchObject({ code: 'not_found', status: 404 })
  })

  test('a QUERY without a type is refused, wherever it is sent', async () => {
    const send = (path: string) => app.inject({ method: 'QUERY', url: path })
    expect((await send('/api/catalog/nothing')).json()).toMatchObject({ status: 415 })
    expect((await send('/ai/nothing')).statusCode).toBe(415)
    expect((await send('/ai/vouchers')).statusCode).toBe(405)
  })

  test('HEAD answers like GET, without a body', async () => {
    const url = '/ai/vouchers?limit=1'
    const { etag, 'content-length': length } = (await app.inject(url)).headers
    const { statusCode, body, headers } = await app.inject({ method: 'HEAD', url })
    expect([statusCode, body, headers['etag'], headers['content-length']]).toEqual([
      ...[200, '', etag, length],
    ])
  })

  test.each(['/ai/%zz', '/api/catalog/vouchers/offers/%ff', '/%'])(
    '%s is a malformed address: 400',
    async (url) => {
      const answer = await app.inject({ method: 'GET', url })
      expect(answer.statusCode).toBe(400)
      expect(answer.headers['x-request-id']).toBeDefined()
      expect(answer.headers['access-control-allow-origin']).toBe('*')
      expect(answer.json()).toHaveProperty(url.startsWith('/ai') ? 'error' : 'detail')
      expect(answer.json().parameter).toBe('path')
    },
  )

  test('an endless id is 404', async () => {
    const answer = await app.inject(`/api/catalog/vouchers/offers/${'x'.repeat(500)}`)
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found'])
  })
})

describe('caching', () => {
  const { app } = testApp()

  test('a known tag is 304, in lists, weak, and by *', async () => {
    const first = await app.inject('/ai/vouchers')
    expect(first.headers['cache-control']).toBe('public, max-age=60')
    const tag = String(first.headers['etag'])
    expect(tag).toMatch(/^"[\w-]+"$/)
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"a,b",W/${tag}`, '*']) {
      const answer = await app.inject({ url: '/ai/vouchers', headers: { 'if-none-match': known } })
      expect([answer.statusCode, answer.body], known).toEqual([304, ''])
      expect(answer.headers['etag']).toBe(tag)
      expect(answer.headers['ratelimit']).toBeDefined()
    }
    const other = await app.inject({ url: '/ai/topups', headers: { 'if-none-match': tag } })
    expect(other.statusCode).toBe(200)
  })

  test('an error is never kept', async () => {
    const answer = await app.inject({
      url: '/ai/vouchers?limit=0',
      headers: { 'if-none-match': '*' },
    })
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([400, 'no-store'])
  })
})

describe('cross-origin', () => {
  const { app } = testApp()

  test('a preflight is 204 and costs nothing', async () => {
    const answer = await app.inject({
      method: 'OPTIONS',
      url: '/api/catalog/vouchers/purchase/info',
      headers: {
        origin: 'https://agent.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,payment-signature',
      },
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['access-control-allow-headers']).toContain('payment-signature')
    expect(answer.headers['access-control-allow-methods']).toContain('POST')
    expect(answer.headers['ratelimit']).toBeUndefined()
  })

  test('answers may be read from anywhere, with the headers that matter', async () => {
    const answer = await app.inject({
      url: '/ai/vouchers',
      headers: { origin: 'https://a.example' },
    })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-expose-headers']).toContain('PAYMENT-REQUIRED')
    expect(answer.headers['x-request-id']).toBeDefined()
  })
})

describe('rate limits', () => {
  const paths = ['/ai/capabilities', '/ai/vouchers', '/ai/topups', '/ai/esims']

  test('60 in any minute over the four limited paths together; the index is free', async () => {
    const { app, pass } = testApp()
    pass(0)
    for (let at = 0; at < 60; at++) {
      const answer = await app.inject(paths[at % 4] ?? '')
      expect(answer.statusCode).toBe(200)
      expect(answer.headers['ratelimit']).toBe(`"discovery";r=${59 - at};t=60`)
      expect(answer.headers['ratelimit-policy']).toBe('"discovery";q=60;w=60')
    }
    pass(30_500)
    const refused = await app.inject('/ai/vouchers?limit=0')
    expect(refused.statusCode).toBe(429)
    expect(refused.headers['retry-after']).toBe('30')
    expect(refused.headers['ratelimit']).toBe('"discovery";r=0;t=30')
    expect(refused.headers['access-control-allow-origin']).toBe('*')
    expect(refused.json()).toEqual({ error: expect.any(String), retryAfterSeconds: 30 })
    expect((await app.inject('/ai')).statusCode).toBe(200)
    expect((await app.inject('/api/catalog/vouchers/filters')).statusCode).toBe(200)
    pass(30_000)
    expect((await app.inject('/ai/esims')).statusCode).toBe(200)
  })

  test('catalog reads have their own 300, as a problem document', async () => {
    const { app, pass } = testApp()
    pass(0)
    for (let at = 0; at < 300; at++) await app.inject('/api/catalog/topups/regions')
    const refused = await app.inject('/api/catalog/topups/regions')
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({
      code: 'rate_limited',
      retryAfterSeconds: 60,
      retryable: true,
    })
    const other = await app.inject({
      url: '/api/catalog/topups/regions',
      remoteAddress: '192.0.2.7',
    })
    expect(other.statusCode).toBe(200)
  })

  test('what a client says of its address counts only behind a trusted proxy', async () => {
    const headers = (last: string) => ({ 'x-forwarded-for': `203.0.113.9, ${last}` })
    const left = async (app: ReturnType<typeof testApp>['app'], last: string) =>
      (await app.inject({ url: '/ai/vouchers', headers: headers(last) })).headers['ratelimit']
    const unnamed = testApp()
    const direct = unnamed.app
    await left(direct, '198.51.100.1')
    expect(await left(direct, '198.51.100.2')).toContain('r=58')
    // Only once; otherwise any client could fill the log by sending the header.
    const isWarning = (line: string) => line.includes('TRUSTED_PROXIES names no proxy')
    expect(unnamed.logged.filter(isWarning)).toHaveLength(1)
    const named = testApp({ trustProxy: 1 })
    const behindOne = named.app
    await left(behindOne, '198.51.100.1')
    expect(named.logged.filter(isWarning)).toEqual([])
    expect(await left(behindOne, '198.51.100.2')).toContain('r=59')
    expect(await left(behindOne, '198.51.100.1')).toContain('r=58')
    const byAddress = testApp({ trustProxy: ['127.0.0.1'] }).app
    await left(byAddress, '198.51.100.1')
    expect(await left(byAddress, '198.51.100.2')).toContain('r=59')
  })

  test('a request that cannot be counted fails without its answer', async () => {
    const take = () => Promise.reject(new Error('The counter is away.'))
    const limits = createLimits()
    const { app, logged } = testApp({
      limits: { ...limits, discovery: { ...limits.discovery, consume: take } },
    })
    const answer = await app.inject('/ai/vouchers')
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('items')
    expect(logged.join()).toContain('The counter is away.')
  })
})

describe('further routes', () => {
  function withRoutes() {
    const made = testApp()
    const { app } = made
    app.post('/api/catalog/orders/:id/refund', { config: { charges: true } }, (request) => {
      if (request.body === undefined) return { empty: true }
      throw invalidBody([{ field: 'reason', code: 'missing' }])
    })
    app.get('/api/catalog/broken', { config: { charges: true } }, () => {
      throw new Error('secret: password is hunter2')
    })
    app.get('/ai/broken', () => {
      throw new Error('secret')
    })
    return made
  }
  const post = (payload: string | Buffer, type = 'application/json') =>
    withRoutes().app.inject({
      method: 'POST',
      url: '/api/catalog/orders/1/refund',
      headers: { 'content-type': type },
      payload,
    })

  test.each([
    ['broken JSON', '{"a":', 'application/json', 400, 'invalid_json'],
    ['broken UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400, 'invalid_json'],
    ['a prototype', '{"__proto__":{"a":1}}', 'application/json', 400, 'invalid_json'],
    ['another type', 'a=1', 'application/x-www-form-urlencoded', 415, 'unsupported_media_type'],
    ['plain text', 'a', 'text/plain', 415, 'unsupported_media_type'],
    ['too much', `"${'x'.repeat(16_384)}"`, 'application/json', 413, 'body_too_large'],
    ['what does not fit', '{}', 'application/json', 422, 'invalid_body'],
  ])('%s', async (_, payload, type, status, code) => {
    const answer = await post(payload, type)
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toMatchObject({ code, charged: 'no', requestId: expect.any(String) })
  })

  test('an empty body reaches the route', async () => {
    expect((await post('')).json()).toEqual({ empty: true })
  })

  test('an unexpected error tells nothing, and is logged once', async () => {
    const { app, logged } = withRoutes()
    const answer = await app.inject('/api/catalog/broken')
    expect(answer.statusCode).toBe(500)
    expect(answer.body).not.toContain('hunter2')
    expect(answer.json()).toMatchObject({ code: 'internal_error', charged: 'unknown' })
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain('hunter2')
    expect(logged[0]).toContain(answer.json().requestId)
    const ai = await app.inject('/ai/broken')
    expect([ai.statusCode, Object.keys(ai.json())]).toEqual([500, ['error']])
  })

  test('a path in percent encoding is the same path', async () => {
    const { app } = withRoutes()
    const broken = await app.inject('/api/catalog/brok%65n')
    expect([broken.statusCode, broken.json().charged]).toEqual([500, 'unknown'])
    const wrong = await app.inject('/api/catalog/orders/1/refun%64')
    expect([wrong.statusCode, wrong.headers['allow']]).toEqual([405, 'OPTIONS, POST'])
    const ai = await app.inject('/%61i/vouchers?limit=0')
    expect([ai.statusCode, ai.json()]).toMatchObject([400, { error: expect.any(String) }])
  })

  test('a wrong method names what the path has', async () => {
    const answer = await withRoutes().app.inject('/api/catalog/orders/1/refund')
    expect([answer.statusCode, answer.headers['allow']]).toEqual([405, 'OPTIONS, POST'])
    expect(answer.json().charged).toBe('no')
  })
})

describe('over a socket', () => {
  const { app } = testApp()
  afterAll(() => app.close())
  const listening = app.listen({ host: '127.0.0.1', port: 0 })

  async function send(request: string | Buffer): Promise<string> {
    const { port } = new URL(await listening)
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(request))
      let text = ''
      socket.on('data', (data) => {
        text += data.toString()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(text))
    })
  }

  test('headers over 16 kB are 431, and what is no HTTP is 400', async () => {
    const big = `GET /ai HTTP/1.1\r\nhost: x\r\nx-big: ${'x'.repeat(17_000)}\r\n\r\n`
    expect(await send(big)).toMatch(/^HTTP\/1.1 431 /)
    const raw = 'GET /ai/vouchers?brand=\xe1 HTTP/1.1\r\nhost: x\r\n\r\n'
    expect(await send(Buffer.from(raw, 'latin1'))).toMatch(/^HTTP\/1.1 400 /)
    expect(await send('NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"error"/s)
  })
})

/** A store with everything that it has logged. */
function logged() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const { app } = website({ log })
  logAccess(app)
  return { app, lines }
}

test('a request leaves one line, with the pattern of its route and nothing that the caller sent', async () => {
  const { app, lines } = logged()
  const answer = await app.inject({
    url: '/api/catalog/vouchers/offers/secret?token=secret',
    headers: { authorization: 'Bearer secret', 'payment-signature': 'secret' },
  })
  expect(lines).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      reqId: answer.headers['x-request-id'],
      method: 'GET',
      route: '/api/catalog/vouchers/offers/:id',
      status: answer.statusCode,
      ms: expect.any(Number),
      msg: 'request',
    },
  ])
})

test('a flood leaves no line for what is refused or has no limit, and one for an accepted webhook', async () => {
  const { app, lines } = logged()
  app.post('/webhooks/test', async (request, reply) =>
    reply.status(request.headers['secret'] === 'ours' ? 204 : 401).send(),
  )
  for (let at = 0; at < 305; at += 1) await app.inject('/search')
  for (const url of ['/wp-login.php', '/robots.txt', '/style.css']) await app.inject(url)
  await app.inject({ method: 'PUT', url: '/api/nothing' })
  await app.inject({ method: 'DELETE', url: '/search', remoteAddress: '192.0.2.9' })
  await app.inject({ method: 'POST', url: '/webhooks/test' })
  await app.inject({ method: 'POST', url: '/webhooks/test', headers: { secret: 'ours' } })
  expect(lines.map(({ status }) => status)).toEqual([...Array(300).fill(200), 204])
})

const token = 'sixteen-letters-'

function withMetrics(changes: Partial<MetricsDeps> = {}, trustProxy?: number) {
  const { app } = testApp(trustProxy === undefined ? {} : { trustProxy })
  const answered = vi.fn<MetricsDeps['answered']>()
  const page = vi.fn(async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }))
  routeMetrics(app, { page, token: undefined, isOpenHere: true, answered, ...changes })
  const ask = (remoteAddress: string, headers: Record<string, string> = {}) =>
    app.inject({ url: '/metrics', remoteAddress, headers: { host: 'localhost:8402', ...headers } })
  return { app, ask, answered, page }
}

describe('without a token', () => {
  test('in live mode it is nobody’s: a bare proxy looks like this machine', async () => {
    const { ask, page } = withMetrics({ isOpenHere: false })
    expect((await ask('127.0.0.1')).statusCode).toBe(404)
    expect(page).not.toHaveBeenCalled()
  })

  test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])('%s reads it', async (from) => {
    const answer = await withMetrics().ask(from)
    expect([answer.statusCode, answer.body]).toEqual([200, 'up 1\n'])
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; version=0.0.4',
      'cache-control': 'no-store',
    })
  })

  test.each(['203.0.113.7', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::127.0.0.1', '::10'])(
    '%s finds nothing',
    async (from) => {
      const { ask, page } = withMetrics()
      expect((await ask(from)).statusCode).toBe(404)
      expect(page).not.toHaveBeenCalled()
    },
  )

  test.each(['store.example', 'localhost.store.example', '127.0.0.1.store.example', '[::10]'])(
    'a call to %s is a stranger’s',
    async (host) => {
      expect((await withMetrics().ask('127.0.0.1', { host })).statusCode).toBe(404)
    },
  )

  test('a client that a trusted proxy names is no caller of this machine', async () => {
    const { ask } = withMetrics({}, 1)
    const forged = { 'x-forwarded-for': '127.0.0.1' }
    expect((await ask('203.0.113.7', forged)).statusCode).toBe(404)
    expect((await ask('127.0.0.1', forged)).statusCode).toBe(404)
  })
})

describe('with a token', () => {
  test('it opens from anywhere, and nothing else does', async () => {
    const { ask } = withMetrics({ token })
    const statusOf = async (authorization?: string, from = '203.0.113.7') =>
      (await ask(from, authorization === undefined ? {} : { authorization })).statusCode
    expect(await statusOf(`Bearer ${token}`)).toBe(200)
    expect(await statusOf(`bearer ${token}`)).toBe(200)
    expect(await statusOf(undefined, '127.0.0.1')).toBe(404)
    for (const wrong of [
      token,
      `Bearer ${token}-`,
      `Bearer x${token}`,
      `Basic ${token}`,
      'Bearer ',
    ])
      expect(await statusOf(wrong), wrong).toBe(404)
  })
})

test('every answer is told by the pattern of its route, and never by its address', async () => {
  const { app, answered } = withMetrics()
  await app.inject({ url: '/ai/vouchers?search=secret' })
  await app.inject({ url: '/nothing/here/secret' })
  expect(answered.mock.calls).toMatchObject([
    [{ method: 'GET', route: '/ai/vouchers', status: 200 }],
    [{ method: 'GET', route: 'none', status: 404 }],
  ])
  for (const [{ seconds }] of answered.mock.calls) {
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThan(10)
  }
})
