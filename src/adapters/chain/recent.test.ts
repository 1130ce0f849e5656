import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createEstimates } from './plain-payments.ts'
import { recent } from './recent.ts'

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())

/** Answers 1, 2, 3 … and can be made to fail. */
function counting() {
  const asked = { times: 0, failing: false }
  const ask = recent(1_000, async () => {
    asked.times += 1
    if (asked.failing) throw new Error(`failed ${asked.times}`)
    return asked.times
  })
  return { asked, ask }
}

test('those who ask at one moment, and a moment later, get one answer', async () => {
  const { ask, asked } = counting()
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1])
  vi.advanceTimersByTime(999)
  expect(await ask()).toBe(1)
  expect(asked.times).toBe(1)
})

test('an answer that is old is asked for anew', async () => {
  const { ask } = counting()
  expect(await ask()).toBe(1)
  vi.advanceTimersByTime(1_000)
  expect(await ask()).toBe(2)
})

test('a failure is kept for nobody', async () => {
  const { ask, asked } = counting()
  asked.failing = true
  await expect(Promise.all([ask(), ask()])).rejects.toThrow('failed 1')
  asked.failing = false
  expect(await ask()).toBe(2)
})

test('an estimate is for one settlement, and not for a late one', () => {
  const estimates = createEstimates()
  estimates.keep('a', 90_000n)
  estimates.keep('b', 80_000n)
  expect(estimates.take('a')).toBe(90_000n)
  expect(estimates.take('a')).toBeUndefined()
  vi.advanceTimersByTime(2_000)
  expect(estimates.take('b')).toBeUndefined()
})
