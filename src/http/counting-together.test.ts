import { expect, test } from 'vitest'
import { countingTogether } from './counting-together.ts'
import { countingHere, type RateLimiterFactory, type RateLimitResult } from './rate-limit.ts'

const rule = { name: 'test', limit: 3, windowSeconds: 60 }

/** Two processes with a shared counter, which can be unreachable. */
function world() {
  const others = { areAway: false, asked: 0 }
  const changes: string[] = []
  let now = 0
  const monotonicMs = () => now
  const shared = countingHere(monotonicMs)(rule)
  const asking = async (ask: () => RateLimitResult | Promise<RateLimitResult>) => {
    others.asked += 1
    if (others.areAway) throw new Error('away')
    return ask()
  }
  const together: RateLimiterFactory = () => ({
    ...rule,
    take: (key) => asking(() => shared.take(key)),
    peek: (key) => asking(() => shared.peek(key)),
  })
  const process = () =>
    countingTogether(together, {
      alone: countingHere(monotonicMs),
      monotonicMs,
      changed: (how, reason) =>
        changes.push(reason instanceof Error ? `${how}: ${reason.message}` : how),
    })(rule)
  const pass = (ms: number) => {
    now += ms
  }
  return { others, changes, pass, one: process(), other: process() }
}

test('while the others answer there is one count', async () => {
  const { one, other, changes } = world()
  expect(await one.take('a')).toMatchObject({ remaining: 2 })
  expect(await other.take('a')).toMatchObject({ remaining: 1 })
  expect(await one.peek('a')).toMatchObject({ remaining: 1 })
  expect(await one.take('a')).toMatchObject({ allowed: true, remaining: 0 })
  expect(await other.take('a')).toMatchObject({ allowed: false })
  expect(changes).toEqual([])
})

test('while they do not, each counts alone, from what it let through before', async () => {
  const { one, other, others } = world()
  await one.take('a')
  await one.take('a')
  others.areAway = true
  expect(await one.take('a')).toMatchObject({ allowed: true, remaining: 0 })
  expect(await one.take('a')).toMatchObject({ allowed: false })
  expect(await one.peek('a')).toMatchObject({ allowed: false })
  expect(await other.take('a')).toMatchObject({ allowed: true, remaining: 2 })
})

test('it is told once, and nobody waits for them again but one request a second', async () => {
  const { one, others, changes, pass } = world()
  others.areAway = true
  for (let count = 0; count < 5; count += 1) await one.take('a')
  expect(changes).toEqual(['alone: away'])
  expect(others.asked).toBe(1)
  pass(1_000)
  await Promise.all([one.take('b'), one.take('b'), one.peek('b')])
  expect(others.asked).toBe(2)
  expect(changes).toEqual(['alone: away'])
})

test('when they are back they count again, and it is told', async () => {
  const { one, others, changes, pass } = world()
  others.areAway = true
  await one.take('a')
  others.areAway = false
  expect(await one.take('b')).toMatchObject({ remaining: 2 })
  expect(others.asked).toBe(1)
  pass(1_000)
  expect(await one.take('b')).toMatchObject({ remaining: 2 })
  expect(changes).toEqual(['alone: away', 'together'])
})
