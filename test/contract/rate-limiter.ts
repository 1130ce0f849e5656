import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  LimitRule,
  RateLimiter,
  RateLimiterFactory,
  RateLimitResult,
} from '../../src/http/rate-limit.ts'

/** The rules of the counters under test. */
const contractRules: readonly LimitRule[] = [
  { name: 'wide', limit: 50, windowSeconds: 60 },
  { name: 'narrow', limit: 3, windowSeconds: 1 },
]
const [wide, narrow] = contractRules as [LimitRule, LimitRule]

/** Several seats that share one count: processes, connections, or parts of one process. */
export interface CountingWorld {
  readonly seats: readonly RateLimiterFactory[]
  close(): Promise<void> | void
}

/** The contract of rate limiters, for any number of seats. */
export function describeRateLimiter(name: string, open: () => Promise<CountingWorld>): void {
  describe(`the limits, counted ${name}`, () => {
    let world: CountingWorld
    const at = (rule: LimitRule) => world.seats.map((counting) => counting(rule))
    const first = (rule: LimitRule) => at(rule)[0] as RateLimiter

    beforeAll(async () => {
      world = await open()
    })
    afterAll(() => world.close())

    test('let exactly as many through as the limit says, however many ask at once', async () => {
      const asks = at(wide).flatMap((seat) => Array.from({ length: 60 }, () => seat.take('crowd')))
      const taken = await Promise.all(asks)
      const allowed = taken.filter((one) => one.allowed)
      const left = allowed.map(({ remaining }) => remaining).sort((a, b) => b - a)
      expect(left).toEqual(Array.from({ length: wide.limit }, (_, index) => wide.limit - 1 - index))
      for (const { remaining, resetSeconds } of taken.filter((one) => !one.allowed)) {
        expect(remaining).toBe(0)
        expect(resetSeconds).toBeGreaterThanOrEqual(1)
        expect(resetSeconds).toBeLessThanOrEqual(wide.windowSeconds)
      }
    })

    test('are of each client and of each limit alone', async () => {
      for (let count = 0; count < narrow.limit; count += 1) await first(narrow).take('one')
      expect(await first(narrow).take('other')).toMatchObject({ allowed: true, remaining: 2 })
      expect(await first(wide).take('one')).toMatchObject({ allowed: true, remaining: 49 })
    })

    test('count down at all seats together', async () => {
      for (let count = 1; count <= 6; count += 1) {
        const seat = at(wide)[count % world.seats.length] as RateLimiter
        expect(await seat.take('in turn')).toEqual({
          allowed: true,
          remaining: wide.limit - count,
          resetSeconds: expect.any(Number),
        })
      }
    })

    test('are looked at without counting', async () => {
      const looks = await Promise.all(at(wide).map((seat) => seat.peek('looker')))
      const untouched = { allowed: true, remaining: wide.limit, resetSeconds: 60 }
      expect(looks).toEqual(looks.map(() => untouched))
      await first(wide).take('looker')
      for (const seat of at(wide)) {
        expect(await seat.peek('looker')).toMatchObject({ allowed: true, remaining: 49 })
      }
      await Promise.all(Array.from({ length: 49 }, () => first(wide).take('looker')))
      for (const seat of at(wide)) {
        expect(await seat.peek('looker')).toMatchObject({ allowed: false, remaining: 0 })
      }
    })

    test('hold in any window, and what they refuse is not counted', async () => {
      const allowed = await storm(at(narrow), 3 * narrow.limit)
      // The counter read its clock between the request and its answer.
      for (const [index, { askedAt }] of allowed.entries()) {
        const later = allowed[index + narrow.limit]
        if (later === undefined) break
        expect(later.answeredAt - askedAt).toBeGreaterThanOrEqual(narrow.windowSeconds * 1_000 - 1)
      }
    })

    test('let one more through after the time that they told', async () => {
      const takes = () =>
        Promise.all(at(narrow).flatMap((seat) => [1, 2, 3].map(() => seat.take('waits'))))
      const { resetSeconds } = (await takes()).find((one) => !one.allowed) as RateLimitResult
      expect(await first(narrow).peek('waits')).toMatchObject({ allowed: false })
      // A timer may fire a millisecond early.
      await delay(resetSeconds * 1_000 + 2)
      expect(await first(narrow).take('waits')).toMatchObject({ allowed: true })
    })
  })
}

interface Allowed {
  readonly askedAt: number
  readonly answeredAt: number
}

/** All seats send requests until `enough` were allowed. Returns those in the order of their answers. */
async function storm(seats: readonly RateLimiter[], enough: number): Promise<readonly Allowed[]> {
  const allowed: Allowed[] = []
  const asking = async (seat: RateLimiter) => {
    while (allowed.length < enough) {
      const askedAt = performance.now()
      const { allowed: isAllowed } = await seat.take('storm')
      if (isAllowed) allowed.push({ askedAt, answeredAt: performance.now() })
      await delay(5)
    }
  }
  await Promise.all(seats.flatMap((seat) => [asking(seat), asking(seat)]))
  return allowed.sort((a, b) => a.answeredAt - b.answeredAt)
}
