import { beforeEach, expect, test, vi } from 'vitest'
import { clientKeyOf, countingHere, limiterOf, rateLimitHeaders } from './rate-limit.ts'

const rule = { name: 'test', limit: 3, windowSeconds: 60 }

beforeEach(() => {
  vi.useFakeTimers()
})

test('counts in a window that begins with the first request of a client', async () => {
  const limiter = limiterOf(rule, countingHere(rule))
  expect(await limiter.take('a')).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
  vi.advanceTimersByTime(50_000)
  expect(await limiter.take('a')).toEqual({ allowed: true, remaining: 1, resetSeconds: 10 })
  expect(await limiter.take('b')).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
  vi.advanceTimersByTime(9_999)
  await limiter.take('a')
  // What is refused makes nobody wait longer.
  for (let at = 0; at < 5; at += 1) {
    expect(await limiter.take('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 })
  }
  vi.advanceTimersByTime(1)
  expect(await limiter.take('a')).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
})

test('lets exactly as many of a crowd through as the limit says', async () => {
  const limiter = limiterOf(rule, countingHere(rule))
  const taken = await Promise.all(Array.from({ length: 50 }, () => limiter.take('crowd')))
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(3)
})

test('looking does not count, and says what taking would', async () => {
  const limiter = limiterOf(rule, countingHere(rule))
  const untouched = { allowed: true, remaining: 3, resetSeconds: 60 }
  expect(await limiter.peek('a')).toEqual(untouched)
  await limiter.take('a')
  expect(await limiter.peek('a')).toMatchObject({ allowed: true, remaining: 2 })
  for (let at = 0; at < 3; at += 1) await limiter.take('a')
  expect(await limiter.peek('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 60 })
  vi.setSystemTime(Date.now() + 60_000)
  expect(await limiter.peek('a')).toEqual(untouched)
})

test('writes the headers as structured fields', () => {
  const taken = { allowed: true, remaining: 2, resetSeconds: 60 }
  expect(rateLimitHeaders(rule, taken)).toEqual({
    'ratelimit-policy': '"test";q=3;w=60',
    ratelimit: '"test";r=2;t=60',
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
