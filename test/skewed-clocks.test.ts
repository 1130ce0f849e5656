import { expect, test } from 'vitest'
import { isFinished, isRefunding, type Order } from '../src/orders/order.ts'
import { type Case, cases } from './crash-points/cases.ts'
import { modelClient } from './crash-points/client.ts'
import { modelWorld, type Running, type World } from './crash-points/world.ts'
import { refundWallet } from './model/payment-method.ts'
import { modelShop } from './model/shop.ts'
import { sweep } from './model/sweep.ts'

// Two nodes work on one order, and the clock of each is wrong. A deadline may then come early or
// late; who works on an order is decided by the database's clock, and what was paid by the chain's.

const shop = modelShop()
const second = 1_000
const hour = 3_600 * second
/** A quarter of an hour closely, and then more than a week. */
const maxLooks = 600

const skews = [
  { what: 'two minutes ahead and two behind', skew: [120 * second, -120 * second] },
  { what: 'two minutes behind and two ahead', skew: [-120 * second, 120 * second] },
  { what: 'right and an hour ahead', skew: [0, hour] },
  { what: 'right and an hour behind', skew: [0, -hour] },
  { what: 'right and a day ahead', skew: [0, 24 * hour] },
  { what: 'right and a day behind', skew: [0, -24 * hour] },
] as const

/** What a buyer meets who sends one request, and who repeats it with the key at another node. */
const scenes = cases.filter(
  ({ kind, refund }) => kind === 'voucher' && (refund === 'prompt' || refund === 'slow'),
)

/** A new node, whose clock is that much ahead. */
function withClock(world: World, skewMs: number): Running {
  const { node, deps } = world.start()
  const now = () => new Date(world.clock.now().getTime() + skewMs)
  const { x402 } = deps.methods
  // By the clock of the node the authorization is over, and the chain does not say so.
  const check: typeof x402.check = async (payment) =>
    payment.validBefore * second < now().getTime()
      ? { outcome: 'unknown', reason: 'over', charged: 'unknown' }
      : x402.check(payment)
  return { node, deps: { ...deps, now, methods: { ...deps.methods, x402: { ...x402, check } } } }
}

function ordersIn({ orders }: World): Order[] {
  return [...new Map(orders.history.map((order) => [order.id, order])).values()]
}

/** The first node is asked; both go on with what is due, now one before the other, now the other. */
async function live(world: World, [first, other]: readonly [Running, Running]): Promise<void> {
  const client = await modelClient(world)
  await client.first(first)
  if (world.scene.repeat !== 'never') await client.again(other)
  for (let look = 0; look < maxLooks && !ordersIn(world).every(isFinished); look += 1) {
    world.clock.pass(look < 200 ? 5 * second : hour / 2)
    for (const { deps } of look % 2 ? [first, other] : [other, first]) await sweep(deps, 10)
  }
}

/** Whether the buyer has either goods or money, and nobody paid or was charged twice. */
function wrongsOf(world: World): string[] {
  const paid = world.landed()
  const back = world.chain.transfers.filter(({ from }) => from === refundWallet)
  const alive = ordersIn(world).filter(({ state }) => state !== 'PAYMENT_FAILED')
  const delivered = alive.filter(({ state }) => state === 'FULFILLED').length
  const refunded = alive.filter(
    (order) => isRefunding(order) && order.payout?.state === 'CONFIRMED',
  )
  const checks = {
    'an order did not end': !ordersIn(world).every(isFinished),
    'the buyer paid twice': paid.length > 1,
    'the buyer was paid back twice': back.length > 1,
    'the supplier was charged twice': world.supplier.purchases.size > 1,
    'neither goods nor money, or both': paid.length !== delivered + back.length,
    'the record of the refund is wrong': refunded.length !== back.length,
    'two nodes had one order': world.violations.some((said) => said.includes('was given an order')),
    'a payment was demanded that had landed': world.violations.some((said) =>
      said.startsWith('402'),
    ),
  }
  return Object.entries(checks).flatMap(([wrong, isSo]) => (isSo ? [wrong] : []))
}

async function runWith(scene: Case, [first, other]: (typeof skews)[number]['skew']) {
  const world = modelWorld(shop, scene, [])
  world.chain.fund(refundWallet, 1_000_000_000n)
  await live(world, [withClock(world, first), withClock(world, other)])
  return world
}

test.each(skews)(
  'with the clocks of two nodes $what, an order ends with goods or money, once',
  async ({ skew }) => {
    const ends = new Set<string>()
    for (const scene of scenes) {
      const world = await runWith(scene, skew)
      expect(wrongsOf(world), JSON.stringify(scene)).toEqual([])
      for (const { state } of ordersIn(world)) ends.add(state)
    }
    expect([...ends].sort()).toEqual([
      ...['EXPIRED', 'FULFILLED', 'FULFILLMENT_FAILED', 'PAYMENT_FAILED'],
    ])
  },
)

test.each([
  { what: 'an hour ahead', skew: hour },
  { what: 'an hour behind', skew: -hour },
])('a node whose clock is $what takes no payment rather than a wrong one', async ({ skew }) => {
  for (const scene of scenes) {
    const world = await runWith(scene, [skew, skew])
    expect(world.orders.history).toEqual([])
    expect(world.chain.transfers).toEqual([])
  }
})
