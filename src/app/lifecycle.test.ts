import { beforeEach, expect, test, vi } from 'vitest'
import { giveUp } from './lifecycle.ts'

const ended = vi.fn()

beforeEach(() => {
  vi.useFakeTimers()
  ended.mockClear()
  vi.spyOn(process, 'exit').mockImplementation(ended as never)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  }
})

test('a store that gives up says why at once, and serves no longer', () => {
  const stop = vi.fn(() => Promise.resolve())
  void giveUp('a key is missing', stop)
  expect(console.error).toHaveBeenCalledWith('a key is missing')
  expect(stop).toHaveBeenCalledWith(0)
})

test.each([
  ['that drain are waited for', 35_000, 35_000],
  ['that hang are not waited for', 3_600_000, 39_000],
])('workers %s', async (_, stoppedInMs, endsInMs) => {
  const stop = () => new Promise<void>((resolve) => setTimeout(resolve, stoppedInMs))
  void giveUp('a worker cannot start', stop, 30_000)
  await vi.advanceTimersByTimeAsync(endsInMs - 1)
  expect(ended).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(ended).toHaveBeenCalledWith(1)
})
