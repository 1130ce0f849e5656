import { expect, test } from 'vitest'
import { newOrder, orderWorld, type Script } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import type { Cancelled } from '../suppliers/supplier.ts'
import { advance } from './advance.ts'
import { isRefunding, type Refunding } from './order.ts'
import { retryRefund } from './refund.ts'

const minute = 60_000
const hour = 60 * minute

type World = ReturnType<typeof orderWorld>

async function live({ clock, deps }: World, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += minute) {
    clock.pass(minute)
    await sweep(deps, 10)
  }
}

/** An order that expired, for which the supplier has delivered nothing yet. */
async function expired(changes: Partial<Script> = {}): Promise<World> {
  const world = orderWorld({ held: { outcome: 'pending' }, ...changes })
  const { order } = await world.orders.open(newOrder(world.deps), [])
  await advance(world.deps, order, 0)
  await live(world, 11 * minute + 6 * hour)
  return world
}

function last(world: World): Refunding {
  const order = world.orders.history.at(-1)
  if (!order || !isRefunding(order)) throw new Error(`the order is ${order?.state}`)
  return order
}

const come = ({ script }: World) => {
  script.held = orderWorld().script.held
}

test('asks goods back once that is on record, and says when it may have asked before', async () => {
  const world = await expired()
  const answers: Cancelled[] = [{ outcome: 'unknown', reason: 'timeout' }, { outcome: 'cancelled' }]
  const asked: unknown[] = []
  world.supplier.cancel = async (_kind, _reference, isRepeat) => {
    asked.push([isRepeat, last(world).supply])
    return answers.shift() ?? { outcome: 'cancelled' }
  }
  come(world)
  await live(world, 3 * minute)
  expect(last(world).supply).toEqual({ state: 'RETURNED' })
  const onRecord = { state: 'OPEN', askedBackAt: expect.any(Date) }
  expect(asked).toEqual([
    [false, onRecord],
    [true, onRecord],
  ])
})

test.each(['hour_cap', 'day_cap', 'payer_share', 'stopped'] as const)(
  'looks for late goods while the refund is held back: %s',
  async (allowed) => {
    const world = await expired({ allowed })
    expect(last(world)).toMatchObject({ payout: { state: 'DUE' }, supply: { state: 'OPEN' } })
    come(world)
    await live(world, 2 * minute)
    expect(last(world)).toMatchObject({ payout: { state: 'DUE' }, supply: { state: 'LOST' } })
  },
)

test('watches for late goods until 72 h after the refund, though it was held back for days', async () => {
  const world = await expired({ allowed: 'day_cap' })
  await live(world, 80 * hour)
  world.script.allowed = 'granted'
  await live(world, 60 * hour)
  expect(last(world)).toMatchObject({ payout: { state: 'CONFIRMED' }, supply: { state: 'OPEN' } })
  come(world)
  await live(world, hour)
  expect(last(world)).toMatchObject({ supply: { state: 'LOST' } })
})

test('watches again after a refund that could not be paid for longer than that', async () => {
  const world = await expired({
    placed: { outcome: 'unknown', reason: 'timeout' },
    held: { outcome: 'none' },
    allowed: 'over_cap',
  })
  await live(world, 80 * hour)
  expect(last(world)).toMatchObject({ payout: { state: 'FAILED' }, supply: { state: 'NONE' } })
  world.script.allowed = 'granted'
  await retryRefund(world.orders, last(world), 'operator')
  await live(world, hour)
  expect(last(world)).toMatchObject({ payout: { state: 'CONFIRMED' }, supply: { state: 'OPEN' } })
  come(world)
  await live(world, 2 * hour)
  expect(last(world)).toMatchObject({ supply: { state: 'LOST' } })
})
