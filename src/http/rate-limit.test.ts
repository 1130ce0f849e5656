import fc from 'fast-check'
import { expect, test } from 'vitest'
import { describeRateLimiter } from '../../test/contract/rate-limiter.ts'
import { clientKeyOf } from './client-key.ts'
import {
  countingHere,
  type RateLimiter,
  type RateLimiterFactory,
  type RateLimitResult,
  rateLimitHeaders,
  slidingWindow,
} from './rate-limit.ts'

describeRateLimiter('in this process', async () => {
  const counting = countingHere(() => performance.now())
  const limiters = new Map<string, RateLimiter>()
  // All parts of one process share one counter for each limit.
  const seat: RateLimiterFactory = (rule) => {
    const shared = limiters.get(rule.name) ?? counting(rule)
    limiters.set(rule.name, shared)
    return shared
  }
  return { seats: [seat, seat, seat], close: () => undefined }
})

function limiter(limit = 3, maxKeys?: number) {
  let now = 1000
  const window = slidingWindow({
    name: 'test',
    limit,
    windowSeconds: 60,
    monotonicMs: () => now,
    ...(maxKeys === undefined ? {} : { maxKeys }),
  })
  return {
    window,
    at(time: number, key = 'a') {
      now = time
      return window.take(key) as RateLimitResult
    },
  }
}

test('counts in any window, not in windows by the clock', () => {
  const { at } = limiter()
  expect(at(0)).toEqual({ allowed: true, remaining: 2, resetSeconds: 60 })
  expect(at(50_000).allowed).toBe(true)
  expect(at(59_000)).toEqual({ allowed: true, remaining: 0, resetSeconds: 1 })
  expect(at(59_999.5)).toEqual({ allowed: false, remaining: 0, resetSeconds: 1 })
  expect(at(60_000)).toEqual({ allowed: true, remaining: 0, resetSeconds: 50 })
  expect(at(60_001).allowed).toBe(false)
  expect(at(60_001, 'b').allowed).toBe(true)
})

test('names a wait of one window at most, whatever fraction the clock shows', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e9 }), (microseconds) => {
      expect(limiter().at(microseconds / 1_000).resetSeconds).toBe(60)
    }),
  )
})

test('takes no more than the limit in any 60 s, and keeps its word about waiting', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 5 }), (waits, limit) => {
      const { at } = limiter(limit)
      const taken: number[] = []
      let now = 0
      for (const wait of waits) {
        now += wait
        const answer = at(now)
        if (!answer.allowed) {
          now += answer.resetSeconds * 1000
          expect(at(now).allowed).toBe(true)
        }
        taken.push(now)
        expect(taken.filter((time) => time > now - 60_000).length).toBeLessThanOrEqual(limit)
      }
    }),
  )
})

test('forgets the client that was not seen for longest when there are too many', () => {
  const { at } = limiter(1, 2)
  at(0, 'a')
  at(1, 'b')
  expect(at(2, 'a').allowed).toBe(false)
  at(3, 'c')
  expect(at(4, 'a').allowed).toBe(false)
  expect(at(5, 'b').allowed).toBe(true)
})

test('looking does not count, and says what taking would', () => {
  const { window, at } = limiter(1)
  expect(window.peek('a')).toMatchObject({ allowed: true, remaining: 1 })
  expect(window.peek('a')).toMatchObject({ allowed: true, remaining: 1 })
  expect(at(0).allowed).toBe(true)
  expect(window.peek('a')).toEqual({ allowed: false, remaining: 0, resetSeconds: 60 })
})

test('writes the headers as structured fields', () => {
  const { window, at } = limiter()
  expect(rateLimitHeaders(window, at(0))).toEqual({
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
