import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inTurn, repeat, within } from './scheduling.ts'

describe('repeated work', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('waits the full interval after a success and backs off after failures', async () => {
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

  test('never runs twice at once, and ends after the current run', async () => {
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

  test('does not run when the signal is already aborted', async () => {
    const task = vi.fn(async () => true)
    await repeat(task, { everyMs: 1, retryMs: 1, signal: AbortSignal.abort() })
    expect(task).not.toHaveBeenCalled()
  })
})

const late = 'nothing came'
const never = new Promise<never>(() => undefined)

test('returns the answer or its rejection', async () => {
  expect(await within(60_000, Promise.resolve('yes'), late)).toBe('yes')
  await expect(within(60_000, Promise.reject(new Error('no')), late)).rejects.toThrow('no')
})

test('rejects after the timeout', async () => {
  await expect(within(1, never, late)).rejects.toThrow(late)
})

test('counts a long turn of the event loop as a short one: an answer may need several', async () => {
  const busyTurn = async () => {
    const until = performance.now() + 60
    while (performance.now() < until);
    await stat('.')
  }
  const answer = busyTurn().then(busyTurn).then(busyTurn).then(busyTurn).then(busyTurn)
  expect(await within(100, answer, late)).toBeUndefined()
})

test('accepts an answer that arrived in time while the process was busy', async () => {
  // After an immediate, Node runs the timers first and handles input only afterwards.
  await setImmediate()
  const answer = stat('.')
  const waited = within(1, answer, late)
  const until = performance.now() + 200
  while (performance.now() < until);
  expect((await waited).isDirectory()).toBe(true)
})

test('runs functions one at a time, in the order of the calls', async () => {
  const turn = inTurn()
  const log: string[] = []
  const gates = ['a', 'b', 'c'].map((name) => ({ name, ...Promise.withResolvers<void>() }))
  const results = gates.map(({ name, promise }) =>
    turn(async () => {
      log.push(`${name} begins`)
      await promise
      log.push(`${name} ends`)
      return name
    }),
  )
  // Resolving the later gates first must not change the order.
  for (const { resolve } of gates.toReversed()) resolve()
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c'])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('rejects only the failed call and continues with the next', async () => {
  const turn = inTurn()
  const failed = turn(() => Promise.reject(new Error('down')))
  const thrown = turn(() => {
    throw new Error('at once')
  })
  const fine = turn(async () => 'fine')
  await expect(failed).rejects.toThrow('down')
  await expect(thrown).rejects.toThrow('at once')
  expect(await fine).toBe('fine')
})
