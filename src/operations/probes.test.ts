import { beforeEach, expect, test, vi } from 'vitest'
import { createHealth } from '../health/health.ts'
import { ample } from '../health/means.fixture.ts'
import { runHealthChecks } from './probes.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

test('checks all parts at once and repeatedly, independently of each other', async () => {
  const health = createHealth(() => new Date())
  const supplier = vi.fn(async () => true)
  const probes = {
    database: vi.fn(async () => true),
    chain: vi.fn(() => Promise.reject(new Error('stopped\nat a line of its own'))),
    suppliers: new Map([['zendit', supplier]]),
  }
  const stop = new AbortController()
  const ended = runHealthChecks(probes, health, stop.signal)
  await vi.advanceTimersByTimeAsync(20_000)
  stop.abort()
  await ended
  // At once, then after 1, 2, 4 and 8 s.
  expect(probes.chain).toHaveBeenCalledTimes(5)
  expect(supplier).toHaveBeenCalledTimes(3)
  expect(probes.database).toHaveBeenCalledTimes(41)
  health.noteMeans(ample)
  expect(health.parts()).toMatchObject({
    database: { state: 'healthy' },
    supplier: { state: 'healthy' },
    chain: { state: 'down', detail: 'stopped' },
  })
})

test('checks a failed part again within a second and marks it down within four', async () => {
  const health = createHealth(() => new Date())
  const chain = vi.fn(() => Promise.reject(new Error('stopped')))
  const stop = new AbortController()
  const well = async () => true
  const suppliers = new Map([['zendit', well]])
  const ended = runHealthChecks({ database: well, chain, suppliers }, health, stop.signal)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(chain).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(health.parts().chain).toEqual({ state: 'down', detail: 'stopped' })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(chain.mock.calls.length).toBeLessThanOrEqual(12)
  stop.abort()
  await vi.advanceTimersByTimeAsync(10_000)
  await ended
})

test('marks a silent database down within three seconds and up with its first answer', async () => {
  const health = createHealth(() => new Date())
  const givenUpMs = 1_500
  let isFrozen = false
  const database = async () => {
    if (!isFrozen) return
    await new Promise((resolve) => setTimeout(resolve, givenUpMs))
    throw new Error('timeout')
  }
  const stop = new AbortController()
  const well = async () => true
  const suppliers = new Map([['zendit', well]])
  const ended = runHealthChecks({ database, chain: well, suppliers }, health, stop.signal)
  await vi.advanceTimersByTimeAsync(1_000)
  isFrozen = true
  await vi.advanceTimersByTimeAsync(3_000)
  expect(health.parts().database).toEqual({ state: 'down', detail: 'timeout' })
  isFrozen = false
  await vi.advanceTimersByTimeAsync(2_000)
  expect(health.parts().database.state).not.toBe('down')
  stop.abort()
  await vi.advanceTimersByTimeAsync(givenUpMs)
  await ended
})
