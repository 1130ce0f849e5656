import { describe, expect, test, vi } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { type MetricsDeps, routeMetrics } from './metrics.ts'

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
