import type { OrderId } from '../../src/lib/ids.ts'
import type { Notifier } from '../../src/orders/ports.ts'
import type { PurchaseDeps } from '../../src/orders/purchase.ts'
import { deliver } from '../../src/orders/webhooks/sender.ts'
import { createQuotes } from '../../src/payments/terms.ts'
import type { Supplier } from '../../src/suppliers/supplier.ts'
import { noInvoices } from '../doubles/memory-payouts.ts'
import { alwaysSold, plainWords } from '../doubles/orders.ts'
import { Injected } from '../model/calls.ts'
import { streamOf } from '../model/random.ts'
import { sweep } from '../model/sweep.ts'
import { awake, type Caller, newProcess, type Process, through } from './process.ts'
import { skewOf } from './scenario.ts'
import type { World } from './world.ts'

/** A machine of the store. If its process dies, another one is started in its place. */
export interface StoreNode {
  readonly index: number
  /** The process that takes requests; undefined if there is none. */
  process(): Process | undefined
  /** The dependencies of one caller on this node. */
  depsFor(caller: Caller): PurchaseDeps
  notifier(): Notifier
  start(): void
  crash(): void
  /** SIGTERM: the process takes no new requests, completes the current ones, and ends. */
  stop(): void
  pause(ms: number): void
}

const sweepEveryMs = 1_000
const sweepLimit = 50
/** A stopped process ends at the latest after this. */
const stoppingMs = 20_000

export function newStoreNode(world: World, index: number): StoreNode {
  let process: Process | undefined
  let notifier: Notifier | undefined
  let starts = 0

  const running = () => {
    if (!process || !notifier) throw new Error('The node was never started')
    return { process, notifier }
  }

  function crash(): void {
    if (!process || process.dead) return
    world.trace.tell(`crash: node ${index}`)
    process.die()
  }

  const node: StoreNode = {
    index,
    process: () => (process?.dead || process?.stopping.signal.aborted ? undefined : process),
    depsFor: (caller) => depsFor(world, index, caller, running().notifier),
    notifier: () => running().notifier,
    crash,

    start() {
      if (process && !process.dead) return
      starts += 1
      process = newProcess(index * 1_000 + starts, index)
      notifier = modelNotifier(world, process)
      void runSweeper(world, node, process, `sweep ${index}.${starts}`)
      void runSender(world, process, `webhooks ${index}.${starts}`)
    },

    stop() {
      const stopped = process
      if (!stopped || stopped.dead) return
      world.trace.tell(`stop: node ${index}`)
      stopped.stopping.abort()
      world.time.later(stoppingMs, () => stopped.die())
    },

    pause(ms) {
      if (!process || process.dead) return
      world.trace.tell(`${ms > 45_000 ? 'pause past the lease' : 'pause'}: node ${index} for ${ms}`)
      process.pausedUntil = Math.max(process.pausedUntil, world.time.time() + ms)
      process.lastPausedUntil = process.pausedUntil
    },
  }
  return node
}

/** Each caller draws its faults from its own randomness, so that callers do not change each other's faults. */
function depsFor(world: World, index: number, caller: Caller, notifier: Notifier): PurchaseDeps {
  const { time, scenario, shop, calls } = world
  const skewMs = skewOf(scenario, index)
  const now = () => new Date(time.time() + skewMs)
  const database = world.line('database', 15)
  const supplier = attentive(world, caller)
  return {
    ...shop,
    policy: { ...shop.policy, refundGraceMs: 3_600_000 },
    now,
    ...world.pricesOf({ pricing: shop.pricing, quotes: createQuotes(shop.signer, now) }),
    health: alwaysSold,
    budgets: world.budgets,
    orders: through(calls, caller, database, world.ordersOf(caller)),
    limits: through(calls, caller, database, world.memory.limits),
    reservations: through(calls, caller, database, world.reservations),
    approvals: through(calls, caller, database, world.memory.approvals),
    approvalWords: plainWords,
    denylist: new Set(),
    payoutLimits: through(calls, caller, database, world.payoutLimits),
    methods: {
      x402: through(calls, caller, world.line('chain', 300), world.methodOf(caller)),
      btcpay: noInvoices,
    },
    suppliers: { at: () => supplier },
    accepted: new Set(),
    notifier,
    stopping: caller.process.stopping.signal,
    report: world.report,
  }
}

/** The supplier for one caller. Tells the witness when the caller learns that a purchase was accepted. */
function attentive({ calls, line, supplier, witness }: World, caller: Caller): Supplier {
  const port = through(calls, caller, line('supplier', 1_500), supplier.port)
  return {
    ...port,
    async place(order) {
      const placed = await port.place(order)
      if (placed.outcome === 'held') witness.told(order.reference, caller)
      return placed
    },
    lookup: port.lookup,
    cancel: port.cancel,
    knowsIccid: port.knowsIccid,
  }
}

/** Like `createDoorbell`, in virtual time. */
function modelNotifier(world: World, process: Process): Notifier {
  const waiting = new Map<OrderId, Set<() => void>>()
  const { signal } = process.stopping
  signal.addEventListener('abort', () => {
    for (const wake of [...waiting.values()].flatMap((wakers) => [...wakers])) wake()
  })

  return {
    notify(id) {
      for (const wake of waiting.get(id) ?? []) wake()
    },

    async wait(id, ms) {
      if (signal.aborted) return
      const wakers = waiting.get(id) ?? new Set()
      waiting.set(id, wakers)
      const { promise, resolve } = Promise.withResolvers<void>()
      wakers.add(resolve)
      world.time.later(ms, resolve)
      await promise
      wakers.delete(resolve)
      await awake(world, process)
    },
  }
}

/** Sweeps every second, like operations/loops.ts. Sweeps when nothing can be due are skipped. */
async function runSweeper(world: World, node: StoreNode, process: Process, name: string) {
  const deps = node.depsFor({ process, name, random: streamOf(world.seed, name) })
  const work = async () => {
    while ((await sweep(deps, sweepLimit)) === sweepLimit);
  }
  await repeat(world, process, work, world.memory.nextDue)
}

/** Sends the events for the buyers' webhooks. */
async function runSender(world: World, process: Process, name: string) {
  const { calls, time, shop, memory, receivers } = world
  const caller: Caller = { process, name, random: streamOf(world.seed, name) }
  const webhooks = through(calls, caller, world.line('database', 15), world.webhooks)
  const { post } = through(calls, caller, world.line('receiver', 300), receivers)
  const deps = {
    ...{ webhooks, post, vault: shop.vault, now: time.now, random: caller.random },
    report: world.report,
    count: () => {},
  }
  const work = async () => {
    const due = await webhooks.claimDue(sweepLimit)
    await Promise.all(due.map((delivery) => deliver(deps, delivery).catch(isInjected)))
  }
  await repeat(world, process, work, memory.webhooks.nextDue)
}

/** The event is tried again when its lease has ended. */
function isInjected(error: unknown): void {
  if (!(error instanceof Injected)) throw error
}

async function repeat(
  world: World,
  process: Process,
  work: () => Promise<void>,
  nextDue: () => number,
): Promise<void> {
  while (!process.stopping.signal.aborted) {
    await awake(world, process)
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Injected)) world.complain(`a sweep failed: ${error}`)
    }
    await untilDue(world, nextDue)
  }
}

/** Resolves after a whole number of seconds, when something may be due. */
async function untilDue({ time, sweepers }: World, nextDue: () => number): Promise<void> {
  const since = time.time()
  const { promise, resolve } = Promise.withResolvers<void>()
  let planned = Infinity
  const plan = () => {
    const wait = Math.max(sweepEveryMs, nextDue() - since)
    const at = since + Math.ceil(wait / sweepEveryMs) * sweepEveryMs
    if (at >= planned || at === Infinity) return
    planned = at
    time.later(Math.max(at, time.time()) - time.time(), resolve)
  }
  sweepers.add(plan)
  plan()
  await promise
  sweepers.delete(plan)
}
