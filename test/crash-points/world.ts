import { isRefunding, payoutStateOf } from '../../src/orders/order.ts'
import type { StoreEvent } from '../../src/orders/ports.ts'
import type { PurchaseDeps } from '../../src/orders/purchase.ts'
import { fixturePayer } from '../../src/payments/payments.fixture.ts'
import { createQuotes } from '../../src/payments/terms.ts'
import { memoryOrders } from '../doubles/memory-orders.ts'
import { noInvoices } from '../doubles/memory-payouts.ts'
import { memoryReservations } from '../doubles/memory-reservations.ts'
import { alwaysSold, noBudgets, plainWords } from '../doubles/orders.ts'
import { fixtureNow } from '../fixtures/offers.ts'
import { Injected, type Node, newNode } from '../model/calls.ts'
import { modelChain } from '../model/chain.ts'
import { modelClock } from '../model/clock.ts'
import { leaseBook } from '../model/leases.ts'
import { modelMethod } from '../model/payment-method.ts'
import type { Shop } from '../model/shop.ts'
import { modelSupplier } from '../model/supplier.ts'
import { suppliers } from '../model/suppliers.ts'
import type { Case } from './cases.ts'
import { type FaultWorld, type Point, through } from './faults.ts'
import { manneredNetwork } from './sending.ts'
import { modelWitness } from './witness.ts'

/** A running node, with its dependencies. */
export interface Running {
  readonly node: Node
  readonly deps: PurchaseDeps
}

export type World = ReturnType<typeof modelWorld>

/** Everything outside the processes of the store, which survives every crash. */
export function modelWorld(shop: Shop, scene: Case, points: readonly Point[]) {
  const clock = modelClock(fixtureNow)
  const violations: string[] = []
  const complain = (what: string) => void violations.push(what)
  const orders = memoryOrders(clock.now)
  const reservations = memoryReservations(clock.now)
  const chain = modelChain(clock)
  const reports: StoreEvent[] = []
  const landed = () => chain.transfers.filter(({ to }) => to === shop.payee.payTo)

  const supplier = modelSupplier({
    clock,
    mannerOf: () => suppliers[scene.supplier],
    witness: (order) => witness.placing(order),
  })
  const witness = modelWitness({ clock, orders, chain, supplier, landed, points, complain })
  const { payment, refund } = scene
  const network = manneredNetwork({ clock, chain, payment, refund })
  const method = modelMethod({ chain, network, witness })
  const leases = leaseBook(clock, complain)
  const faultWorld: FaultWorld = { clock, trace: [], points, phase, others: async () => {} }
  let nodes = 0

  function phase(): string {
    const order = orders.history.at(-1)
    if (!order) return 'none'
    return isRefunding(order) ? `${order.state}-${payoutStateOf(order)}` : order.state
  }

  function report(event: StoreEvent): void {
    reports.push(event)
    if ('error' in event && !(event.error instanceof Injected)) {
      complain(`${event.name}: ${event.error}`)
    }
  }

  /** Starts a node with an empty memory. */
  function start(): Running {
    nodes += 1
    const node = newNode(nodes)
    const wait = async (_: string, ms: number) => clock.pass(ms)
    const seen = through(faultWorld, node, supplier.port)
    const deps: PurchaseDeps = {
      ...shop,
      now: clock.now,
      quotes: createQuotes(shop.signer, clock.now),
      health: alwaysSold,
      budgets: noBudgets,
      orders: through(faultWorld, node, leases.watch(orders, node.id)),
      limits: through(faultWorld, node, orders.limits),
      reservations: through(faultWorld, node, reservations),
      approvals: through(faultWorld, node, orders.approvals),
      approvalWords: plainWords,
      denylist: new Set(),
      methods: {
        x402: through(faultWorld, node, method),
        btcpay: noInvoices,
      },
      suppliers: { at: () => seen },
      accepted: new Set(),
      payoutLimits: through(faultWorld, node, { allow: async () => 'granted' as const }),
      notifier: { notify: () => {}, wait: through(faultWorld, node, { wait }).wait },
      stopping: node.stopping.signal,
      report,
    }
    return { node, deps }
  }

  return {
    scene,
    points,
    shop,
    clock,
    violations,
    complain,
    orders,
    chain,
    supplier,
    reports,
    landed,
    trace: faultWorld.trace,
    payer: fixturePayer,
    start,
    /** Sets what the rest of the store does while a node stands still. */
    whileStanding: (others: FaultWorld['others']) => Object.assign(faultWorld, { others }),
  }
}
