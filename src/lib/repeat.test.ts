import { beforeEach, expect, it, vi } from 'vitest'
import { repeat } from './scheduling.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

it('waits the full interval after a success and backs off after failures', async () => {
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
  // 200 s after a success; 30, 60, 120 and at most 200 s after failures; then 30 s again.
  expect(ranAt).toEqual([0, 200, 230, 290, 410, 610, 810, 840, 1040])
  stop.abort()
  await ended
  expect(vi.getTimerCount()).toBe(0)
})

it('never runs twice at once, and ends after the current run', async () => {
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

it('does not run when the signal is already aborted', async () => {
  const task = vi.fn(async () => true)
  await repeat(task, { everyMs: 1, retryMs: 1, signal: AbortSignal.abort() })
  expect(task).not.toHaveBeenCalled()
})
