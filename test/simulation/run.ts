import type { OrderId } from '../../src/lib/ids.ts'
import { isFinished, isRefunding, type Order } from '../../src/orders/order.ts'
import { claimRefund } from '../../src/orders/refund.ts'
import { refundWallet } from '../model/payment-method.ts'
import { streamOf } from '../model/random.ts'
import type { Shop } from '../model/shop.ts'
import { shopping } from './buyers.ts'
import { playCheckout } from './coins.ts'
import { checkEnd } from './ends.ts'
import { scheduleFaults } from './fault-schedule.ts'
import { newStoreNode, type StoreNode } from './node.ts'
import { type Scenario, type Size, scenarioOf } from './scenario.ts'
import { webhooks } from './webhooks.ts'
import { type Mutant, newWorld, type World } from './world.ts'

const hourMs = 3_600_000
/** Longer than anything that the store waits for. */
const horizonMs = 110 * hourMs
const operatorEveryMs = 600_000
/** After this the operator widens the caps, so that nothing holds refunds back. */
const calmAfterMs = 3_000_000

export interface Outcome {
  readonly seed: number
  readonly digest: string
  readonly orders: number
  readonly virtualMs: number
  readonly counts: ReadonlyMap<string, number>
  readonly violations: readonly { readonly what: string; readonly order: OrderId | undefined }[]
  linesOf(order: OrderId | undefined): readonly string[]
}

/** Runs the scenario of a seed. */
export function simulate(shop: Shop, seed: number, size: Size, mutant?: Mutant): Promise<Outcome> {
  return play(shop, seed, scenarioOf(seed, size), mutant)
}

/** Runs one scenario from its first buyer until nothing is left to do. */
export async function play(
  shop: Shop,
  seed: number,
  scenario: Scenario,
  mutant?: Mutant,
): Promise<Outcome> {
  const world = newWorld(shop, seed, scenario, mutant)
  const since = world.time.time()
  world.chain.fund(refundWallet, 10n ** 12n)
  const nodes = scenario.skewsMs.map((_, index) => newStoreNode(world, index))
  for (const node of nodes) node.start()
  scheduleFaults(world, nodes)
  webhooks(world, nodes)
  let shoppers = world.book.buyers.length
  for (const buyer of world.book.buyers) {
    void shopping(world, nodes, buyer).then(
      () => {
        shoppers -= 1
      },
      (error: unknown) => world.complain(`a buyer failed: ${error}`),
    )
  }
  void operator(world, nodes)
  const isQuiet = () =>
    shoppers === 0 &&
    world.orders().every(isSettled) &&
    world.memory.webhooks.nextDue() === Infinity
  await world.time.run(() => world.violations.length > 0 || isQuiet(), since + horizonMs)
  await checkEnd(world, isQuiet())
  // What breaks only orders shows in them.
  for (const spec of mutant && !mutant.processor ? [] : scenario.checkouts) {
    for (const what of await playCheckout(spec, mutant)) world.complain(what)
    world.trace.tell('checkout')
  }
  return outcomeOf(world, since)
}

function outcomeOf(world: World, since: number): Outcome {
  const { trace, violations, seed, time } = world
  return {
    seed,
    digest: trace.digest(),
    orders: world.orders().length,
    virtualMs: time.time() - since,
    counts: trace.counts,
    violations,
    linesOf: trace.linesOf,
  }
}

/** The operator retries refunds that failed. After `calmAfterMs`, the caps no longer bound them. */
async function operator(world: World, nodes: readonly StoreNode[]): Promise<void> {
  const since = world.time.time()
  for (let rounds = 0; ; rounds += 1) {
    await world.time.sleep(operatorEveryMs)
    if (world.time.time() - since > calmAfterMs) Object.assign(world.payoutLimits.rules, wide)
    const failed = world.orders().filter((order) => world.isFailed(order) && !isLost(order))
    for (const order of failed) await retry(world, nodes, order, `operator ${rounds} ${order.id}`)
  }
}

const wide = { hour: 10n ** 12n, day: 10n ** 12n }

/** Whether nothing is left to do for the store and its operator. */
function isSettled(order: Order): boolean {
  const isRetried = isRefunding(order) && order.payout?.state === 'FAILED' && !isLost(order)
  return isFinished(order) && !isRetried
}

function isLost(order: Order): boolean {
  return 'settlement' in order && order.settlement === 'LOST'
}

async function retry(world: World, nodes: readonly StoreNode[], order: Order, name: string) {
  const node = nodes.find((each) => each.process())
  const process = node?.process()
  if (!node || !process) return
  const deps = node.depsFor({ process, name: 'operator', random: streamOf(world.seed, name) })
  const claim = { key: name, bodyHash: 'again' }
  // A failed claim is repeated in the next round.
  await Promise.race([claimRefund(deps, order, claim).catch(() => undefined), process.death])
}
