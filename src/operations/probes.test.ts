import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { orderWorld, tenderOf } from '../../test/doubles/orders.ts'
import { createVitals } from '../health/vitals.ts'
import { probing, watchedRail, watchedSupplier } from './probes.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const order = {
  reference: 'r',
  kind: 'esim',
  offerId: 'E' as never,
  recipient: { kind: 'esim' },
} as const

test('probes look at every part at once and every 10 s, and one that fails hides no other', async () => {
  const vitals = createVitals(() => new Date())
  const probes = {
    database: vi.fn(async () => true),
    chain: vi.fn(() => Promise.reject(new Error('stopped\nat a line of its own'))),
    supplier: vi.fn(async () => true),
  }
  const stop = new AbortController()
  const ended = probing(probes, vitals, stop.signal)
  await vi.advanceTimersByTimeAsync(20_000)
  stop.abort()
  await ended
  expect(probes.database).toHaveBeenCalledTimes(3)
  expect(vitals.parts()).toMatchObject({
    database: { state: 'healthy' },
    supplier: { state: 'healthy' },
    chain: { state: 'down', detail: 'stopped' },
  })
})

describe('what a part answers', () => {
  test.each(['place', 'lookup'] as const)('tells of the supplier’s health: %s', async (call) => {
    const { deps, script } = orderWorld()
    const vitals = createVitals(() => new Date())
    const supplier = watchedSupplier(deps.supplier, vitals)
    const ask = () => (call === 'place' ? supplier.place(order) : supplier.lookup('esim', 'r'))
    script.placed = { outcome: 'declined', code: 'X', reason: 'none left' }
    script.held = { outcome: 'declined', code: 'X', reason: 'none left' }
    expect(await ask()).toBe(call === 'place' ? script.placed : script.held)
    expect(vitals.parts().supplier.state).toBe('healthy')
    script.placed = { outcome: 'unknown', reason: '503' }
    script.held = { outcome: 'unknown', reason: '503' }
    for (let time = 0; time < 3; time += 1) await ask()
    expect(vitals.parts().supplier).toEqual({ state: 'down', detail: '503' })
  })

  test('tells of the chain’s health', async () => {
    const { deps } = orderWorld()
    const vitals = createVitals(() => new Date())
    const check = vi.fn(async () => ({ outcome: 'unknown', reason: 'timeout' }) as const)
    const rail = watchedRail({ ...deps.rails.x402, check }, vitals)
    for (let time = 0; time < 3; time += 1) await rail.check(tenderOf())
    expect(vitals.parts().chain).toEqual({ state: 'down', detail: 'timeout' })
  })

  test('passes everything else through', async () => {
    const { deps, calls } = orderWorld()
    const vitals = createVitals(() => new Date())
    const supplier = watchedSupplier(deps.supplier, vitals)
    expect(supplier.placeWithinMs).toBe(deps.supplier.placeWithinMs)
    await supplier.cancel('esim', 'r')
    await watchedRail(deps.rails.x402, vitals).collect(tenderOf())
    expect(calls).toEqual(['cancel', 'collect'])
  })
})
