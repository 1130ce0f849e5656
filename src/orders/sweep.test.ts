import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newOrder, orderWorld, tenderOf } from '../../test/doubles/orders.ts'
import type { Held } from './ports.ts'
import { createSweeper } from './sweep.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

async function worldWith(count: number) {
  const world = orderWorld()
  for (let at = 0; at < count; at += 1) {
    const tender = tenderOf({ nonce: `0x${String(at).padStart(64, '0')}` })
    const { order } = await world.orders.open(newOrder(world.deps, { tender }), [])
    await world.orders.release(order, 0)
  }
  const ends = () => world.orders.history.filter(({ state }) => state === 'FULFILLED').length
  return { ...world, ends }
}

test('an order whose supplier hangs holds up none of the others', async () => {
  const { deps, ends } = await worldWith(3)
  const answer = Promise.withResolvers<Held>()
  const lookup = vi.fn(deps.supplier.lookup).mockReturnValueOnce(answer.promise)
  const supplier = { ...deps.supplier, lookup }
  const sweeper = createSweeper({ ...deps, supplier }, { atOnce: 2, rail: 'x402' })
  await sweeper.look(1)
  await vi.advanceTimersByTimeAsync(0)
  for (let looks = 0; looks < 2; looks += 1) {
    await sweeper.look(1)
    await vi.advanceTimersByTimeAsync(0)
  }
  expect(ends()).toBe(2)
  answer.resolve({ outcome: 'unknown', reason: 'it went away' })
  await sweeper.settled()
})

test('no more orders are worked on at once than there are places', async () => {
  const { deps, orders } = await worldWith(3)
  const claimDue = vi.spyOn(orders, 'claimDue')
  const supplier = { ...deps.supplier, lookup: () => new Promise<Held>(() => {}) }
  const report = vi.fn()
  const sweeper = createSweeper({ ...deps, supplier, report }, { atOnce: 2, rail: 'x402' })
  await sweeper.look(25)
  await sweeper.look(25)
  expect(claimDue.mock.calls.map(([limit]) => limit)).toEqual([2])
  // What hangs gives its place up in the end.
  await vi.advanceTimersByTimeAsync(100_000)
  await sweeper.settled()
  expect(report).toHaveBeenCalledTimes(2)
  await sweeper.look(25)
  expect(claimDue).toHaveBeenCalledTimes(2)
})
