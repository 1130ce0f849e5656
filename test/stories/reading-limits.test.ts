import { describe, expect, test } from 'vitest'
import { type Call, callerFor, expectDiscoveryRefusal, expectProblem } from './reading.ts'
import { useStore } from './store.ts'

const store = useStore('still')
const call = callerFor(store)

const from = (address: string, headers: Record<string, string> = {}) => ({
  headers: { ...headers, 'x-forwarded-for': address },
})

const limited = ['/ai/capabilities', '/ai/vouchers', '/ai/topups', '/ai/esims']

test('discovery takes 60 requests a minute of one address, over its four paths together', async () => {
  for (let at = 0; at < 60; at += 1) {
    const answer = await call(limited[at % 4] ?? '', from('192.0.2.1'))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('ratelimit-policy')).toBe('"discovery";q=60;w=60')
    expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"discovery";r=${59 - at};t=\\d+$`))
  }
  for (const path of limited) {
    const refused = await call(path, from('192.0.2.1'))
    expectDiscoveryRefusal(refused, 429)
    const { retryAfterSeconds } = refused.body
    expect(Number.isInteger(retryAfterSeconds)).toBe(true)
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(1)
    expect(retryAfterSeconds).toBeLessThanOrEqual(60)
    expect(refused.headers.get('retry-after')).toBe(String(retryAfterSeconds))
    expect(refused.headers.get('ratelimit')).toBe(`"discovery";r=0;t=${retryAfterSeconds}`)
    expect(refused.headers.get('cache-control')).toBe('no-store')
  }
  expect((await call('/ai', from('192.0.2.1'))).status).toBe(200)
  expect((await call('/ai/vouchers', from('192.0.2.2'))).status).toBe(200)
  expect((await call('/api/catalog/vouchers/offers', from('192.0.2.1'))).status).toBe(200)
})

test('an IPv6 address counts with its whole /64', async () => {
  const left = async (address: string) =>
    (await call('/ai/esims', from(address))).headers.get('ratelimit')
  expect(await left('2001:db8:1:2::1')).toContain('r=59')
  expect(await left('2001:db8:1:2:ffff::9')).toContain('r=58')
  expect(await left('2001:db8:1:3::1')).toContain('r=59')
})

test('bad requests, 304 and wrong methods count too', async () => {
  const left = async (path: string, method = 'GET', headers = {}) =>
    (await call(path, { ...from('192.0.2.9', headers), method })).headers.get('ratelimit')
  expect(await left('/ai/vouchers?limit=0')).toContain('r=59')
  expect(await left('/ai/vouchers', 'GET', { 'if-none-match': '*' })).toContain('r=58')
  expect(await left('/ai/vouchers', 'DELETE')).toContain('r=57')
  expect(await left('/ai/vouchers', 'HEAD')).toContain('r=56')
})

describe('the catalog interface', () => {
  test.each([
    ['reading', 300, '/api/catalog/topups/regions', '198.51.100.1', {}],
    ['purchase', 60, '/api/catalog/esims/purchase/info', '198.51.100.2', { charges: true }],
  ])('%s is limited to %d a minute', async (name, limit, path, address, charges) => {
    const answers: Awaited<ReturnType<Call>>[] = []
    // Of one address no more than 64 are answered at once, whatever the limit of a minute is.
    while (answers.length < limit) {
      const some = Array.from({ length: 30 }, () => call(path, from(address)))
      answers.push(...(await Promise.all(some)))
    }
    expect(answers.filter(({ status }) => status === 429)).toEqual([])
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe(`"${name}";q=${limit};w=60`)
    const refused = await call(path, from(address))
    expectProblem(refused, { status: 429, code: 'rate_limited', ...charges })
    expect(refused.body.retryable).toBe(true)
    expect(refused.headers.get('retry-after')).toBe(String(refused.body.retryAfterSeconds))
    expect((await call(path, from('198.51.100.77'))).status).not.toBe(429)
  })
})
