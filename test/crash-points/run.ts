import { isFinished, isRefunding, type Order } from '../../src/orders/order.ts'
import { claimRefund } from '../../src/orders/refund.ts'
import { Injected } from '../model/calls.ts'
import { refundWallet } from '../model/payment-method.ts'
import type { Shop } from '../model/shop.ts'
import { sweep } from '../model/sweep.ts'
import type { Case } from './cases.ts'
import { type Client, modelClient } from './client.ts'
import type { Point } from './faults.ts'
import { checkEnd } from './invariants.ts'
import { modelWorld, type Running, type World } from './world.ts'

const float = 1_000_000_000n
const minute = 60_000
const hour = 60 * minute
/** Longer than anything that the store waits for. */
const horizonMs = 110 * hour

export interface Run {
  /** All calls in order, as the method and the state of the order. */
  readonly trace: readonly string[]
  /** The violated invariants, in words. */
  readonly violations: readonly string[]
  readonly end: Order | undefined
}

/** Runs one purchase from its first request to its end, with exactly these faults. */
export async function runOnce(shop: Shop, scene: Case, points: readonly Point[]): Promise<Run> {
  const world = modelWorld(shop, scene, points)
  if (scene.refund !== 'no-float') world.chain.fund(refundWallet, float)
  const client = await modelClient(world)
  world.trace.length = 0
  world.whileStanding((howLong) => others(world, client, howLong))

  const seat = newSeat(world)
  await seat.work((running) => client.first(running))
  if (scene.repeat !== 'never') await seat.work((running) => client.again(running))
  await sweepToQuiet(world, seat, horizonMs)
  await operator(world, seat)
  await repeatAtTheEnd(world, seat, client)
  checkEnd(world)
  return {
    trace: world.trace,
    violations: [...new Set(world.violations)],
    end: world.orders.history.at(-1),
  }
}

/** Repeats the request after the end, which must have no effect, except a new payment after one that failed. */
async function repeatAtTheEnd(world: World, seat: Seat, client: Client): Promise<void> {
  const before = effectsOf(world)
  const orders = ordersOf(world)
  if (orders.length === 0) return
  await seat.work((running) => client.again(running))
  const paysAnew =
    world.scene.repeat === 'key-with-new-payment' &&
    orders.every(({ state }) => state === 'PAYMENT_FAILED')
  if (paysAnew) await sweepToQuiet(world, seat, horizonMs)
  else if (before !== effectsOf(world)) {
    world.complain('a repeated request had an effect after the end')
  }
}

interface Seat {
  /** Lets the node of this seat work. If it dies or is stopped, a new one takes its place. */
  work(task: (running: Running) => Promise<unknown>): Promise<void>
}

function newSeat(world: World): Seat {
  let running = world.start()
  return {
    async work(task) {
      await Promise.race([task(running), running.node.death])
      if (!running.node.dead && !running.node.stopping.signal.aborted) return
      world.clock.pass(5_000)
      running = world.start()
    },
  }
}

/** The current versions of all orders. */
function ordersOf({ orders }: World): Order[] {
  return [...new Map(orders.history.map((order) => [order.id, order])).values()]
}

async function sweepOnce(world: World, { deps }: Running): Promise<void> {
  try {
    await sweep(deps, 10)
  } catch (error) {
    if (!(error instanceof Injected)) world.complain(`the sweep failed: ${error}`)
  }
}

/** Sweeps until nothing is left to do: often at first, later rarely, when orders only wait. */
async function sweepToQuiet(world: World, seat: Seat, forMs: number): Promise<void> {
  const since = world.clock.now().getTime()
  const age = () => world.clock.now().getTime() - since
  while (!ordersOf(world).every(isFinished)) {
    if (age() > forMs) {
      if (forMs === horizonMs) world.complain('the order never came to an end')
      return
    }
    world.clock.pass(stepAt(age()))
    await seat.work((running) => sweepOnce(world, running))
  }
}

function stepAt(age: number): number {
  if (age < 15 * minute) return 5_000
  return age < 8 * hour ? 5 * minute : 2 * hour
}

/** The work of the rest of the store while one node stands still for longer than its lease. */
async function others(world: World, client: Client, howLong: 'stall' | 'freeze'): Promise<void> {
  const seat = newSeat(world)
  world.clock.pass(46_000)
  if (world.scene.repeat !== 'never') await seat.work((running) => client.again(running))
  await sweepToQuiet(world, seat, howLong === 'stall' ? 15_000 : horizonMs)
}

/** The operator funds the empty refund wallet, and the buyer claims the refund. */
async function operator(world: World, seat: Seat): Promise<void> {
  if (world.scene.refund !== 'no-float') return
  world.chain.fund(refundWallet, float)
  for (let asked = 0; asked < 4; asked += 1) {
    const order = ordersOf(world).find(isBlocked)
    if (!order) return
    await seat.work((running) => claim(world, running, order, `claim ${asked}`))
    await sweepToQuiet(world, seat, horizonMs)
  }
}

function isBlocked(order: Order): boolean {
  return isRefunding(order) && order.payout?.state === 'FAILED'
}

async function claim(world: World, { deps }: Running, order: Order, key: string) {
  try {
    await claimRefund(deps, order, { key, bodyHash: 'body' })
  } catch (error) {
    if (!(error instanceof Injected)) world.complain(`the claim failed: ${error}`)
  }
}

function effectsOf({ chain, supplier, orders }: World): string {
  return [chain.transfers.length, supplier.purchases.size, orders.history.length].join(' ')
}
