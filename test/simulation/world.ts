import { createLiveCatalog } from '../../src/catalog/catalog.ts'
import type { Processor } from '../../src/checkouts/ports.ts'
import { usdc } from '../../src/lib/money.ts'
import { isRefunding, type Order, orderIdOfReference } from '../../src/orders/order.ts'
import type { PayoutLimits } from '../../src/orders/payout.ts'
import type { OrderStore, StoreEvent } from '../../src/orders/ports.ts'
import type { PurchaseDeps } from '../../src/orders/purchase.ts'
import type { WebhookStore } from '../../src/orders/webhooks/ports.ts'
import type { X402Method } from '../../src/payments/payment.ts'
import type { Supplier } from '../../src/suppliers/supplier.ts'
import { type MemoryOrders, memoryOrders } from '../doubles/memory-orders.ts'
import { type MemoryPayoutLimits, memoryPayoutLimits } from '../doubles/memory-payout-limits.ts'
import { memoryReservations } from '../doubles/memory-reservations.ts'
import { noBudgets } from '../doubles/orders.ts'
import { fixtureNow } from '../fixtures/offers.ts'
import { Injected } from '../model/calls.ts'
import { modelChain, type View } from '../model/chain.ts'
import { leaseBook } from '../model/leases.ts'
import { modelMethod } from '../model/payment-method.ts'
import { streamOf } from '../model/random.ts'
import type { Shop } from '../model/shop.ts'
import { modelSupplier } from '../model/supplier.ts'
import { buyerBook, limited } from './buyer-book.ts'
import { modelNetwork } from './network.ts'
import type { Caller, CallWorld, Line } from './process.ts'
import { newReceivers } from './receivers.ts'
import { manners, type Scenario } from './scenario.ts'
import { scheduler } from './scheduler.ts'
import { newTrace } from './trace.ts'
import { newWitness, pricesChangeMs, tightBudgets } from './witness.ts'

type Prices = Pick<PurchaseDeps, 'pricing' | 'quotes'>

/** Replacements for parts of the store or the outside that are broken on purpose. */
export interface Mutant {
  readonly orders?: (store: MemoryOrders) => OrderStore
  readonly method?: (method: X402Method, chain: ReturnType<typeof modelChain>) => X402Method
  readonly supplier?: (supplier: Supplier) => Supplier
  readonly payoutLimits?: (payoutLimits: MemoryPayoutLimits) => PayoutLimits
  readonly prices?: (prices: Prices) => Prices
  readonly webhooks?: (store: WebhookStore) => WebhookStore
  readonly processor?: (processor: Processor) => Processor
}

export type World = ReturnType<typeof newWorld>

/** The parts that are down or behind, by the fault schedule. */
interface Sky {
  /** Until when a part does not answer; epoch milliseconds. */
  readonly down: Record<Line['part'], number>
  /** How many blocks the RPC node of each store node is behind, and until when. */
  readonly lags: Map<number, { readonly blocks: number; readonly until: number }>
}

/** Only the first violations are collected: those that follow from a broken state add nothing. */
const maxViolations = 5

/** Everything outside the processes of the store, and the parts that check it. */
export function newWorld(shop: Shop, seed: number, scenario: Scenario, mutant: Mutant = {}) {
  const time = scheduler(fixtureNow)
  const trace = newTrace(time)
  const violations: { readonly what: string; readonly order: Order['id'] | undefined }[] = []
  const reports: StoreEvent[] = []

  function complain(what: string, order?: Order['id']): void {
    if (violations.length >= maxViolations) return
    violations.push({ what, order })
    trace.tell(`VIOLATION: ${what}`, order)
  }

  const calls: CallWorld = {
    time,
    trace,
    faultsPerMille: scenario.faultsPerMille,
    acting: undefined,
  }
  const sky: Sky = { down: { database: 0, chain: 0, supplier: 0, receiver: 0 }, lags: new Map() }
  let tell: (reference: string) => void = () => {}
  const book = buyerBook(scenario, trace)
  const memory = memoryOrders(time.now)
  const perDay = usdc(limited.perDay)
  void memory.limits.replace(limited.wallet, undefined, { inForce: { perDay } })
  const liveCatalog = createLiveCatalog()
  liveCatalog.replace(shop.catalogs[0])
  time.later(pricesChangeMs, () => liveCatalog.replace(shop.catalogs[1]))
  const chain = modelChain(time, (mined) => witness.mined(mined))
  const supplier = modelSupplier({
    clock: time,
    mannerOf: (reference) => {
      const manner = book.ofReference(reference)?.spec.supplier
      return manner === undefined ? {} : manners[manner]
    },
    witness: (order) => witness.placing(order),
    onPurchase: (reference) => {
      witness.purchased(reference)
      tell(reference)
    },
    staleness: () => acting()?.random() ?? 0,
  })
  const tight = scenario.caps === 'tight'
  const caps = tight
    ? { hour: 40_000_000n, day: 80_000_000n }
    : { hour: 10n ** 12n, day: 10n ** 12n }
  const payoutLimits = memoryPayoutLimits({ orders: memory, caps, now: time.now })
  const acting = () => calls.acting
  const witness = newWitness({
    time,
    shop,
    memory,
    chain,
    supplier,
    payoutLimits,
    book,
    acting,
    complain,
    scenario,
  })
  const leases = leaseBook(time, complain)
  const network = modelNetwork({ time, chain, book, trace, random: streamOf(seed, 'carrier') })
  const broken = mutant.orders?.(memory) ?? memory
  const sweepers = new Set<() => void>()

  /** The store; every write that can make an order due wakes the sweepers. */
  const watched: OrderStore = witness.watch(
    {
      ...broken,
      hasten: async (id) => {
        await broken.hasten(id)
        wakeSweepers()
      },
      release: async (order, againInMs) => {
        await broken.release(order, againInMs)
        wakeSweepers()
      },
    },
    wakeSweepers,
  )

  function wakeSweepers(): void {
    for (const wake of sweepers) wake()
  }

  function viewOf(caller: Caller): View {
    const lag = sky.lags.get(caller.process.node)
    const blocks = lag && lag.until > time.time() ? lag.blocks : 0
    return {
      lag: Math.floor(caller.random() * (blocks + 2)),
      safeLag: Math.floor(caller.random() * (blocks + 2)),
    }
  }

  function methodOf(caller: Caller): X402Method {
    const method = modelMethod({ chain, network, witness, view: () => viewOf(caller) })
    return mutant.method?.(method, chain) ?? method
  }

  function report(event: StoreEvent): void {
    reports.push(event)
    trace.tell(`report ${event.name}`, 'order' in event ? event.order : undefined)
    if ('error' in event && !(event.error instanceof Injected)) {
      complain(`${event.name}: ${event.error}`, 'order' in event ? event.order : undefined)
    }
  }

  return {
    shop,
    seed,
    scenario,
    time,
    trace,
    calls,
    sky,
    book,
    memory,
    reservations: memoryReservations(time.now),
    receivers: newReceivers({ book, memory, complain }),
    webhooks: mutant.webhooks?.(memory.webhooks) ?? memory.webhooks,
    budgets: tight ? tightBudgets : noBudgets,
    /** What a caller prices with. */
    pricesOf: (prices: Prices) => ({ liveCatalog, ...prices, ...mutant.prices?.(prices) }),
    chain,
    supplier: { ...supplier, port: mutant.supplier?.(supplier.port) ?? supplier.port },
    payoutLimits: { ...payoutLimits, ...mutant.payoutLimits?.(payoutLimits) },
    witness,
    violations,
    reports,
    complain,
    report,
    methodOf,
    network,
    sweepers,
    /** Sets the listener for every purchase that the supplier makes. */
    supplierTells: (listener: typeof tell) => {
      tell = listener
    },
    ordersOf: (caller: Caller) => leases.watch(watched, caller.process.id),
    line: (part: Line['part'], latencyMs: number): Line => ({
      part,
      latencyMs,
      isDown: () => sky.down[part] > time.time(),
    }),
    /** The current versions of all orders. */
    orders: () => [...witness.current.values()],
    orderOfReference: (reference: string) => {
      const id = orderIdOfReference(reference)
      return id && witness.current.get(id)
    },
    isFailed: (order: Order) => isRefunding(order) && order.payout?.state === 'FAILED',
  }
}
