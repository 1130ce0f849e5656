import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Cover, createVitals } from '../health/vitals.ts'
import { usdc } from '../primitives/money.ts'
import { covering } from './covering.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A store that is well, and whose float and exposure are what is said here. */
function begin(float: bigint, exposure: bigint) {
  const seen = { float: async () => usdc(float), exposure: async () => usdc(exposure) }
  const vitals = createVitals(() => new Date(0))
  vitals.noteCatalog(new Date(0))
  const noted: (Cover | undefined)[] = []
  const noteCover = (cover: Cover | undefined) => {
    noted.push(cover)
    vitals.noteCover(cover)
  }
  const stop = new AbortController()
  const sources = { float: () => seen.float(), exposure: () => seen.exposure() }
  const ended = covering(sources, { noteCover }, stop.signal)
  return {
    seen,
    vitals,
    noted,
    action: () => vitals.signals().agent_action,
    async end() {
      stop.abort()
      await ended
    },
  }
}

test('looks at once and every 5 s, and tells both numbers of the same look', async () => {
  const { noted, end } = begin(7n, 3n)
  await vi.advanceTimersByTimeAsync(0)
  expect(noted).toEqual([{ float: 7n, exposure: 3n }])
  await vi.advanceTimersByTimeAsync(4_999)
  expect(noted).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(noted).toHaveLength(2)
  await end()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(noted).toHaveLength(2)
})

test('stops purchases while the float is under what is open, and lets them go on', async () => {
  const { seen, vitals, action, end } = begin(3n, 3n)
  await vi.advanceTimersByTimeAsync(0)
  expect(action()).toBe('pay')
  seen.exposure = async () => usdc(4n)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(action()).toBe('stop')
  expect(vitals.parts().refunds).toEqual({
    state: 'down',
    detail: 'Refunds may need 4 atomic USDC, and their wallet holds 3.',
  })
  seen.float = async () => usdc(4n)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(action()).toBe('pay')
  await end()
})

test.each(['float', 'exposure'] as const)(
  'forgets what it saw when it cannot see the %s, and goes on looking',
  async (part) => {
    const { seen, vitals, noted, action, end } = begin(3n, 4n)
    await vi.advanceTimersByTimeAsync(0)
    expect(action()).toBe('stop')
    seen[part] = () => Promise.reject(new Error('timeout'))
    await vi.advanceTimersByTimeAsync(5_000)
    // The chain and the database have probes of their own; an old number proves nothing.
    expect([action(), vitals.cover()]).toEqual(['pay', undefined])
    seen[part] = async () => usdc(4n)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(noted.at(-1)).toBeDefined()
    await end()
  },
)

test('never looks twice at once, however slow a look is', async () => {
  const { seen, noted, end } = begin(1n, 1n)
  await vi.advanceTimersByTimeAsync(0)
  let looks = 0
  const slow = Promise.withResolvers<ReturnType<typeof usdc>>()
  seen.float = () => {
    looks += 1
    return slow.promise
  }
  await vi.advanceTimersByTimeAsync(60_000)
  expect([looks, noted.length]).toEqual([1, 1])
  slow.resolve(usdc(1n))
  await vi.advanceTimersByTimeAsync(0)
  expect(noted).toHaveLength(2)
  await end()
})
