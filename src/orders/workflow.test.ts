import { beforeEach, expect, test, vi } from 'vitest'
import { newOrder, orderWorld, paymentOf } from '../../test/doubles/orders.ts'
import type { Held } from '../suppliers/supplier.ts'
import { orderSweeper } from './advance.ts'
import { carry, type Workflow, wait } from './workflow.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

async function worldWith(count: number) {
  const world = orderWorld()
  for (let at = 0; at < count; at += 1) {
    const payment = paymentOf({ nonce: `0x${String(at).padStart(64, '0')}` })
    const { order } = await world.orders.open(newOrder(world.deps, { payment }), [])
    await world.orders.release(order, 0)
  }
  const ends = () => world.orders.history.filter(({ state }) => state === 'FULFILLED').length
  return { ...world, ends }
}

test('an order whose supplier hangs holds up none of the others', async () => {
  const { deps, supplier: usual, ends } = await worldWith(3)
  const answer = Promise.withResolvers<Held>()
  const lookup = vi.fn(usual.lookup).mockReturnValueOnce(answer.promise)
  const supplier = { ...usual, lookup }
  const sweeper = orderSweeper({ ...deps, suppliers: { at: () => supplier } }, 2, 'x402')
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
  const { deps, supplier: usual, orders } = await worldWith(3)
  const claimDue = vi.spyOn(orders, 'claimDue')
  const supplier = { ...usual, lookup: () => new Promise<Held>(() => {}) }
  const report = vi.fn()
  const sweeper = orderSweeper({ ...deps, suppliers: { at: () => supplier }, report }, 2, 'x402')
  await sweeper.look(25)
  await sweeper.look(25)
  expect(claimDue.mock.calls.map(([limit]) => limit)).toEqual([2])
  // Work that hangs gives up its place after a while.
  await vi.advanceTimersByTimeAsync(100_000)
  await sweeper.settled()
  expect(report).toHaveBeenCalledTimes(2)
  await sweeper.look(25)
  expect(claimDue).toHaveBeenCalledTimes(2)
})

test('a process that stops leaves what waits to the sweep of another', async () => {
  const stopping = new AbortController()
  let now = 0
  const store = {
    move: vi.fn(async (_: Workflow, record: Workflow) => ({ won: true, record })),
    release: vi.fn(async (_: Workflow, _againInMs: number) => undefined),
  }
  const flow = {
    store,
    next: async () => wait(5_000),
    now: () => new Date(now),
    stopping: stopping.signal,
  }
  const sleep = vi.fn(async (_: Workflow, ms: number) => {
    now += ms
    stopping.abort()
  })
  const patience = { ms: 60_000, isFor: () => true, wait: sleep }
  const record = { id: 'one', version: 1 }
  expect(await carry(flow, record, patience)).toBe(record)
  expect(sleep).toHaveBeenCalledTimes(1)
  expect(store.release.mock.calls).toEqual([[record, 0]])
})
