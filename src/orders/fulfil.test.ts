import { expect, test } from 'vitest'
import { newOrder, orderWorld, paymentOf } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import type { Collecting } from '../payments/payment.ts'
import { advance } from './advance.ts'

const second = 1_000

/**
 * An order whose payment stays unknown.
 *
 * @param validForMs how long its authorization is valid
 * @param wasted how many reverted transactions each attempt to send it costs
 */
async function unproven(validForMs: number, wasted?: number) {
  const world = orderWorld()
  const looks: { readonly at: number; readonly how: Collecting }[] = []
  const { methods, now } = world.deps
  const begun = now().getTime()
  const collect: typeof methods.x402.collect = async (_, how = {}) => {
    looks.push({ at: now().getTime() - begun, how })
    const costs = wasted !== undefined && !how.onlyLooks ? { wasted } : {}
    return { outcome: 'unknown', reason: 'not said yet', ...costs }
  }
  const deps = { ...world.deps, methods: { ...methods, x402: { ...methods.x402, collect } } }
  const validBefore = Math.floor((begun + validForMs) / second)
  const opening = newOrder(deps, { payment: paymentOf({ validBefore }) })
  const { order } = await world.orders.open(opening, [])
  await advance(deps, order, 0)
  const live = async (ms: number) => {
    for (const until = now().getTime() + ms; now().getTime() < until; ) {
      world.clock.pass(second)
      await sweep(deps, 10)
    }
  }
  /** The pauses between the checks from `from` on. */
  const pauses = (from: number) => {
    const times = looks.map(({ at }) => at).filter((at) => at >= from)
    return times.slice(1).map((at, index) => at - (times[index] ?? 0))
  }
  return { looks, live, pauses, order: () => world.orders.find(order.id) }
}

test('a payment that was reverted three times is sent no more, and looked at ever more seldom', async () => {
  const { looks, live, pauses, order } = await unproven(3_600 * second, 1)
  await live(1_800 * second)
  expect(looks.map(({ how }) => how.onlyLooks).slice(0, 4)).toEqual([false, false, false, true])
  expect(looks.filter(({ how }) => !how.onlyLooks)).toHaveLength(3)
  expect(await order()).toMatchObject({ state: 'PAYMENT_PENDING', reverts: 3 })
  expect(looks.length).toBeLessThan(50)
  expect(new Set(pauses(600 * second))).toEqual(new Set([60 * second]))
})

test('a payment that wastes two transactions at once is sent twice', async () => {
  const { looks, live, order } = await unproven(3_600 * second, 2)
  await live(600 * second)
  expect(looks.filter(({ how }) => !how.onlyLooks)).toHaveLength(2)
  expect(await order()).toMatchObject({ reverts: 4 })
})

test('a payment is looked at quickly until its authorization ends, and then ever more seldom', async () => {
  const { looks, live, pauses } = await unproven(600 * second)
  await live(1_800 * second)
  expect(looks.every(({ how }) => !how.onlyLooks)).toBe(true)
  const last = looks.findIndex(({ at }) => at >= 600 * second)
  const early = pauses(0).slice(0, last)
  expect(Math.max(...early)).toBe(15 * second)
  expect(new Set(pauses(600 * second))).toEqual(new Set([60 * second]))
})
