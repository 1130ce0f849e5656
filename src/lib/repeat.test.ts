import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { repeat } from './repeat.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('waits long after a good run, and longer and longer after bad ones', async () => {
  const stop = new AbortController()
  const results = [true, false, false, false, false, true, false, true]
  const ranAt: number[] = []
  const start = Date.now()
  const task = async () => {
    ranAt.push((Date.now() - start) / 1000)
    return results[ranAt.length - 1] ?? true
  }
  const ended = repeat(task, { everyMs: 200_000, retryMs: 30_000, signal: stop.signal })
  await vi.advanceTimersByTimeAsync(1_100_000)
  // 200 after good ones; after bad ones 30, 60, 120, then no more than 200; then 30 again.
  expect(ranAt).toEqual([0, 200, 230, 290, 410, 610, 810, 840, 1040])
  stop.abort()
  await ended
  expect(vi.getTimerCount()).toBe(0)
})

it('never runs twice at once, and ends after the run that is under way', async () => {
  const stop = new AbortController()
  const { promise: slow, resolve: finish } = Promise.withResolvers<boolean>()
  const task = vi.fn(() => slow)
  let hasEnded = false
  const ended = repeat(task, { everyMs: 1_000, retryMs: 100, signal: stop.signal }).then(() => {
    hasEnded = true
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(task).toHaveBeenCalledTimes(1)
  stop.abort()
  await vi.advanceTimersByTimeAsync(0)
  expect(hasEnded).toBe(false)
  finish(true)
  await ended
  expect(task).toHaveBeenCalledTimes(1)
})

it('does not start when it was stopped before', async () => {
  const task = vi.fn(async () => true)
  await repeat(task, { everyMs: 1, retryMs: 1, signal: AbortSignal.abort() })
  expect(task).not.toHaveBeenCalled()
})
