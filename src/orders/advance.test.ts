import { expect, test } from 'vitest'
import { newOrder, orderWorld } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import type { Supplier } from '../suppliers/supplier.ts'
import { advance } from './advance.ts'
import type { In, Order } from './order.ts'

type World = ReturnType<typeof orderWorld>

async function start(world: World, patienceMs = 20_000): Promise<Order> {
  const { order } = await world.orders.open(newOrder(world.deps), [])
  return advance(world.deps, order, patienceMs)
}

/** Runs the sweep while that much time passes. */
async function live(world: World, ms: number): Promise<Order> {
  for (let passed = 0; passed < ms; passed += 15_000) {
    world.clock.pass(15_000)
    await sweep(world.deps, 10)
  }
  const last = world.orders.history.at(-1)
  if (!last) throw new Error('no order was opened')
  return last
}

test('takes the money, then buys, then delivers, each once', async () => {
  const world = orderWorld()
  const order = await start(world)
  expect(order).toMatchObject({ state: 'FULFILLED' })
  expect(world.calls).toEqual(['collect', 'place', 'lookup'])
  expect(world.orders.history.map(({ state }) => state)).toEqual([
    'PAYMENT_PENDING',
    'PAID',
    'FULFILLING',
    'FULFILLING',
    'FULFILLED',
  ])
})

test('keeps the goods sealed in the record', async () => {
  const world = orderWorld()
  await start(world)
  const record = JSON.stringify(world.orders.history, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(record).not.toContain('SECRET-CODE-1234')
  expect(record).not.toContain('Lovelace')
})

test('buys nothing while it is unknown whether the money came', async () => {
  const world = orderWorld({ collected: { outcome: 'unknown', reason: 'timeout' } })
  const order = await start(world)
  expect(order.state).toBe('PAYMENT_PENDING')
  expect(world.calls).not.toContain('place')
})

test('finds a payment later whose answer was lost', async () => {
  const world = orderWorld({ collected: { outcome: 'unknown', reason: 'timeout' } })
  await start(world)
  world.script.collected = {
    outcome: 'settled',
    receipt: { rail: 'x402', transaction: '0x1', block: 1 },
  }
  expect(await live(world, 60_000)).toMatchObject({ state: 'FULFILLED' })
})

test('ends an order whose payment is proven never to come', async () => {
  const world = orderWorld({
    collected: { outcome: 'failed', code: 'authorization_expired', reason: 'ran out' },
  })
  expect(await start(world)).toMatchObject({
    state: 'PAYMENT_FAILED',
    code: 'authorization_expired',
  })
  expect(world.calls).toEqual(['collect'])
})

test('pays back at once what the supplier declines', async () => {
  const world = orderWorld({
    placed: { outcome: 'declined', code: 'OUT_OF_STOCK', reason: 'none left' },
  })
  const order = await start(world)
  expect(order).toMatchObject({
    state: 'FULFILLMENT_FAILED',
    failure: { trigger: 'fulfillment_failed', code: 'OUT_OF_STOCK' },
    payout: { state: 'CONFIRMED' },
  })
  expect(world.calls).toEqual([
    'collect',
    'place',
    'confirmation',
    'allow',
    'sign',
    'allow',
    'payBack',
  ])
})

test('puts the signed refund on record before it is sent', async () => {
  const world = orderWorld({
    placed: { outcome: 'declined', code: 'X', reason: 'x' },
    paidBack: { outcome: 'pending', reason: 'sent' },
  })
  const order = await start(world)
  expect(order).toMatchObject({ payout: { state: 'APPROVED', signed: { rail: 'x402' } } })
})

test('does not pay back money that may still vanish from the chain', async () => {
  const world = orderWorld({
    placed: { outcome: 'declined', code: 'X', reason: 'x' },
    confirmation: 'not_yet',
  })
  expect(await start(world)).toMatchObject({ payout: { state: 'DUE' } })
  expect(world.calls).not.toContain('sign')
})

test('asks the supplier what it holds before it asks again, and with the same reference', async () => {
  const world = orderWorld({
    placed: { outcome: 'unknown', reason: '503' },
    held: { outcome: 'none' },
  })
  await start(world, 2_000)
  expect(world.calls.slice(0, 4)).toEqual(['collect', 'place', 'lookup', 'place'])
})

test('delivers what was accepted although the answer was lost', async () => {
  const world = orderWorld({ placed: { outcome: 'unknown', reason: '503' } })
  expect(await start(world)).toMatchObject({ state: 'FULFILLED' })
  expect(world.calls.filter((call) => call === 'place')).toHaveLength(1)
})

test('gives up a purchase that the supplier never took and does not show, and pays back', async () => {
  const world = orderWorld({
    placed: { outcome: 'unknown', reason: '503' },
    held: { outcome: 'none' },
  })
  await start(world)
  expect(await live(world, 180_000)).toMatchObject({
    state: 'FULFILLMENT_FAILED',
    failure: { trigger: 'upstream_timeout' },
    payout: { state: 'CONFIRMED' },
    supply: { state: 'OPEN' },
  })
  expect(world.reports).toEqual([])
})

test('keeps that the supplier took a purchase although somebody else has moved the order', async () => {
  const world = orderWorld({ held: { outcome: 'unknown', reason: '503' } })
  const { deps } = world
  const supplier: Supplier = {
    ...world.supplier,
    async place() {
      const order = world.orders.history.at(-1) as In<'FULFILLING'>
      expect((await world.orders.move(order, { ...order, askedAgainAt: deps.now() })).won).toBe(
        true,
      )
      return { outcome: 'held' }
    },
  }
  const order = await start({ ...world, deps: { ...deps, suppliers: { at: () => supplier } } }, 0)
  expect(order.state).toBe('FULFILLING')
  expect(world.orders.history.at(-1)).toMatchObject({
    acceptedAt: expect.any(Date),
    askedAgainAt: expect.any(Date),
  })
})

test('has on record that the supplier took a purchase before it looks for the goods', async () => {
  const world = orderWorld({ held: { outcome: 'unknown', reason: '503' } })
  await start(world, 0)
  expect(world.orders.history.at(-1)).toMatchObject({ acceptedAt: expect.any(Date) })
  expect(world.calls).toEqual(['collect', 'place', 'lookup'])
})

test.each(['place', 'lookup'])('takes no absence for a no after a %s showed it', async (call) => {
  const world = orderWorld({ held: { outcome: call === 'place' ? 'none' : 'pending' } })
  if (call === 'lookup') world.script.placed = { outcome: 'unknown', reason: '503' }
  await start(world, 2_000)
  world.script.held = { outcome: 'none' }
  const order = await live(world, 500_000)
  expect(order).toMatchObject({ state: 'FULFILLING', acceptedAt: expect.any(Date) })
  expect(world.calls.filter((made) => made === 'place')).toHaveLength(1)
  expect(await live(world, 200_000)).toMatchObject({
    state: 'EXPIRED',
    refundAt: expect.any(Date),
    supply: { state: 'OPEN' },
  })
  expect(await live(world, 6 * 3_600_000)).toMatchObject({
    payout: { state: 'CONFIRMED' },
    supply: { state: 'OPEN' },
  })
})

test('takes the refusal of a repeat for no final no', async () => {
  const world = orderWorld({
    placed: { outcome: 'unknown', reason: '503' },
    held: { outcome: 'none' },
  })
  await start(world, 0)
  world.script.placed = { outcome: 'declined', code: 'INVALID_REQUEST', reason: 'used before' }
  expect(await live(world, 60_000)).toMatchObject({ state: 'FULFILLING' })
  expect(world.calls.filter((made) => made === 'place').length).toBeGreaterThan(1)
  world.script.held = orderWorld().script.held
  expect(await live(world, 30_000)).toMatchObject({ state: 'FULFILLED' })
})

test.each([
  ['for a short while only after it was put on record', 600_000, 15_000],
  ['until its deadline only', 10_000, 10_000],
])('lets a request leave %s', async (_, deliverWithinMs, expected) => {
  const world = orderWorld()
  let leftMs = 0
  const place: Supplier['place'] = async ({ notAfter }) => {
    leftMs = notAfter.getTime() - world.clock.now().getTime()
    return { outcome: 'held' }
  }
  const { order } = await world.orders.open(newOrder(world.deps), [])
  const suppliers = { at: () => ({ ...world.supplier, place }) }
  const policy = { ...world.deps.policy, deliverWithinMs }
  await advance({ ...world.deps, suppliers, policy }, order, 0)
  expect(leftMs).toBe(expected)
})

test('pays back at the deadline what was never taken, and books goods that come days later', async () => {
  const world = orderWorld({
    placed: { outcome: 'unknown', reason: '503' },
    held: { outcome: 'unknown', reason: '503' },
  })
  await start(world, 0)
  await live(world, 630_000)
  world.script.held = { outcome: 'none' }
  expect(await live(world, 120_000)).toMatchObject({
    state: 'EXPIRED',
    payout: { state: 'CONFIRMED' },
    supply: { state: 'OPEN' },
  })
  world.clock.pass(70 * 3_600_000)
  world.script.held = orderWorld().script.held
  expect(await live(world, 15_000)).toMatchObject({ supply: { state: 'LOST' } })
  expect(world.reports).toMatchObject([{ name: 'goods_lost' }])
})

test('ends the watch after 72 h without a word about what was never taken', async () => {
  const world = orderWorld({
    placed: { outcome: 'unknown', reason: '503' },
    held: { outcome: 'none' },
  })
  await start(world, 0)
  await live(world, 180_000)
  const asked = world.calls.length
  const order = await live(world, 74 * 3_600_000)
  expect(order).toMatchObject({ supply: { state: 'NONE' }, payout: { state: 'CONFIRMED' } })
  expect(world.calls.length - asked).toBeLessThan(120)
  expect(world.reports).toEqual([])
})

test('delivers at the deadline what a purchase that is done shows, and pays nothing back', async () => {
  const mailed = { kind: 'voucher', instructions: 'Sent by e-mail.' } as const
  const world = orderWorld({ held: { outcome: 'done', delivery: mailed } })
  expect(await start(world)).toMatchObject({ state: 'FULFILLING', acceptedAt: expect.any(Date) })
  expect(await live(world, 500_000)).toMatchObject({ state: 'FULFILLING' })
  const order = await live(world, 120_000)
  expect(order).toMatchObject({ state: 'FULFILLED' })
  expect(world.calls).not.toContain('sign')
})

test('delivers all of the goods where they are written into the record later', async () => {
  const world = orderWorld({ held: { outcome: 'done' } })
  expect(await start(world)).toMatchObject({ state: 'FULFILLING' })
  world.script.held = orderWorld().script.held
  expect(await live(world, 30_000)).toMatchObject({ state: 'FULFILLED' })
})

test.each([
  [45, []],
  [46, ['charge_rose']],
])(
  'books what the supplier charged, and reports more than its list said: %i',
  async (amount, told) => {
    const charge = { amount, currency: 'USD', divisor: 100 }
    const delivery = { kind: 'voucher', code: 'X' } as const
    const world = orderWorld({ held: { outcome: 'delivered', delivery, charge } })
    const fresh = newOrder(world.deps)
    const item = { ...fresh.item, charge: { ...charge, amount: 45 } }
    const { order } = await world.orders.open({ ...fresh, item }, [])
    expect(await advance(world.deps, order, 0)).toMatchObject({ state: 'FULFILLED', charge })
    expect(world.reports.map(({ name }) => name)).toEqual(told)
  },
)

test('counts an eSIM as returned when that is done, not when it is accepted', async () => {
  const world = orderWorld({ held: { outcome: 'pending' }, cancelled: { outcome: 'pending' } })
  await start(world)
  await live(world, 660_000)
  world.script.held = orderWorld().script.held
  const order = await live(world, 120_000)
  expect(order).toMatchObject({ payout: { state: 'CONFIRMED' }, supply: { state: 'OPEN' } })
  world.script.cancelled = { outcome: 'refused', reason: 'it failed' }
  expect(await live(world, 120_000)).toMatchObject({ supply: { state: 'LOST' } })
  expect(world.reports).toMatchObject([{ name: 'goods_lost' }])
})

test('delivers what came while no node was up, though its deadline has passed', async () => {
  const world = orderWorld({ held: { outcome: 'pending' } })
  expect(await start(world)).toMatchObject({ state: 'FULFILLING' })
  world.clock.pass(3_600_000)
  world.script.held = orderWorld().script.held
  await sweep(world.deps, 10)
  expect(world.orders.history.at(-1)).toMatchObject({ state: 'FULFILLED' })
})

test('expires after the deadline, and signs nothing while the supplier may still deliver', async () => {
  const world = orderWorld({ held: { outcome: 'pending' } })
  await start(world)
  const order = await live(world, 660_000)
  expect(order).toMatchObject({
    state: 'EXPIRED',
    refundAt: expect.any(Date),
    supply: { state: 'OPEN' },
  })
  expect(world.calls).not.toContain('sign')
})

test('pays back an expired order at the supplier’s final no', async () => {
  const world = orderWorld({ held: { outcome: 'pending' } })
  await start(world)
  await live(world, 660_000)
  world.script.held = { outcome: 'declined', code: 'FAILED', reason: 'no' }
  expect(await live(world, 60_000)).toMatchObject({
    state: 'EXPIRED',
    payout: { state: 'CONFIRMED' },
    supply: { state: 'NONE' },
  })
})

test('pays back an expired order when the grace ends, and watches for goods that still come', async () => {
  const world = orderWorld({ held: { outcome: 'pending' } })
  await start(world)
  const paidBack = await live(world, 660_000 + 6 * 3_600_000)
  expect(paidBack).toMatchObject({ payout: { state: 'CONFIRMED' }, supply: { state: 'OPEN' } })
  world.script.held = orderWorld().script.held
  expect(await live(world, 120_000)).toMatchObject({ supply: { state: 'LOST' } })
  expect(world.reports).toMatchObject([{ name: 'goods_lost' }])
})

test('keeps goods that come after the deadline from the buyer and pays back', async () => {
  const world = orderWorld({ held: { outcome: 'pending' }, cancelled: { outcome: 'cancelled' } })
  await start(world)
  await live(world, 660_000)
  world.script.held = orderWorld().script.held
  const order = await live(world, 60_000)
  expect(order).toMatchObject({
    state: 'EXPIRED',
    payout: { state: 'CONFIRMED' },
    supply: { state: 'RETURNED' },
  })
  expect(order).not.toHaveProperty('delivery')
})

test('leaves a refund that cannot be paid to an operator, and rings', async () => {
  const world = orderWorld({
    placed: { outcome: 'declined', code: 'X', reason: 'x' },
    paidBack: { outcome: 'blocked', code: 'payer_blacklisted', reason: 'blacklisted' },
  })
  expect(await start(world)).toMatchObject({
    payout: { state: 'FAILED', code: 'payer_blacklisted' },
  })
  expect(world.reports).toMatchObject([{ name: 'refund_failed' }])
  const asked = world.calls.length
  await live(world, 3_600_000)
  expect(world.calls).toHaveLength(asked)
})

test('signs a refund again whose signature ran out', async () => {
  const world = orderWorld({
    placed: { outcome: 'declined', code: 'X', reason: 'x' },
    paidBack: { outcome: 'lapsed' },
  })
  await start(world, 0)
  world.script.paidBack = { outcome: 'paid', transaction: '0x2' }
  expect(await live(world, 60_000)).toMatchObject({ payout: { state: 'CONFIRMED' } })
  expect(world.calls.filter((call) => call === 'sign').length).toBeGreaterThan(1)
})

test('stops when somebody else moved the order meanwhile', async () => {
  const world = orderWorld()
  const { order } = await world.orders.open(newOrder(world.deps), [])
  const stale = order
  await advance(world.deps, order, 20_000)
  const calls = world.calls.length
  expect(await advance(world.deps, stale, 20_000)).toMatchObject({ state: 'FULFILLED' })
  expect(world.calls.slice(calls)).toEqual(['collect'])
})

test('puts an acceptance on record before anything else, once the database takes writes again', async () => {
  const world = orderWorld({ held: { outcome: 'none' } })
  let refusals = 3
  const { move } = world.orders
  const deps = {
    ...world.deps,
    orders: {
      ...world.orders,
      move: async <T extends Order>(from: Order, to: T) => {
        const isLesson = to.state === 'FULFILLING' && to.acceptedAt !== undefined
        if (!isLesson || refusals === 0) return move(from, to)
        refusals -= 1
        throw new Error('move: no answer in time')
      },
    },
  }
  const { order } = await world.orders.open(newOrder(deps), [])
  await expect(advance(deps, order, 0)).rejects.toThrow('no answer')
  const last = await live({ ...world, deps }, 300_000)
  expect(last).toMatchObject({ state: 'FULFILLING', acceptedAt: expect.any(Date) })
  const [, , , next] = world.orders.history
  expect(next).toMatchObject({ state: 'FULFILLING', acceptedAt: expect.any(Date) })
  expect(world.calls.filter((call) => call === 'place')).toHaveLength(1)
  expect([refusals, deps.accepted.size]).toEqual([0, 0])
})
