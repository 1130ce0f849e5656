import { never } from '../lib/errors.ts'
import type { OrderId } from '../lib/ids.ts'
import type { Payment } from '../payments/payment.ts'
import { beginFulfilment, collect, fulfil, recordAcceptance, watchPayment } from './fulfil.ts'
import { isUnderWay, type Order, restOf } from './order.ts'
import type { Notifier, OrderStore, Step, StepDeps } from './ports.ts'
import { payBack } from './refund.ts'
import { carry, createSweeper, type Flow, rest, type Sweeper } from './workflow.ts'

export interface AdvanceDeps extends StepDeps {
  readonly orders: OrderStore
  readonly notifier: Notifier
  /** Aborted when this process is about to end. An order that would have to wait is left to another's sweep. */
  readonly stopping: AbortSignal
}

/**
 * Waits for goods no longer than `patienceMs`, never for a refund. Ends the order's lease, which the caller holds. Money
 * may have moved, so what fails here is no error for the caller: it is reported, and the sweep goes on with the order.
 */
export async function advance(deps: AdvanceDeps, order: Order, patienceMs: number): Promise<Order> {
  try {
    return await carry(orderFlow(deps), order, {
      ms: patienceMs,
      isFor: isUnderWay,
      wait: ({ id }, ms) => deps.notifier.wait(id, ms),
    })
  } catch (error) {
    deps.report({ name: 'step_failed', order: order.id, error })
    return readLatest(deps, order)
  }
}

export async function readLatest(
  { orders }: Pick<AdvanceDeps, 'orders'>,
  order: Order,
): Promise<Order> {
  try {
    return (await orders.find(order.id)) ?? order
  } catch {
    return order
  }
}

export function orderSweeper(
  deps: AdvanceDeps,
  atOnce: number,
  method?: Payment['method'],
): Sweeper {
  const flow = orderFlow(deps)
  return createSweeper({
    claimDue: (limit) => deps.orders.claimDue(limit, method),
    handle: (order) => carry(flow, order),
    failed: ({ id }, error) => deps.report({ name: 'step_failed', order: id, error }),
    atOnce,
  })
}

function orderFlow(deps: AdvanceDeps): Flow<Order> {
  const { orders: store, now, stopping } = deps
  return {
    store,
    now,
    stopping,
    next: (order) => stepOf(deps, order),
    isLeft: (order) => restOf(order) !== null,
  }
}

/** The next step. First records an acceptance that this process heard and could not record yet. */
async function stepOf(deps: StepDeps, order: Order): Promise<Step> {
  return recordAcceptance(deps, order, (saved) => stepOf(deps, saved)) ?? stepForState(deps, order)
}

/** The whole life of an order in one switch. */
function stepForState(deps: StepDeps, order: Order): Promise<Step> {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return collect(deps, order)
    case 'PAID':
      return beginFulfilment(deps, order)
    case 'FULFILLING':
      return fulfil(deps, order)
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return payBack(deps, order)
    case 'FULFILLED':
      return watchPayment(deps, order)
    case 'PAYMENT_FAILED':
      return Promise.resolve(rest)
    default:
      return never(order)
  }
}

/** Notifies within one process. Other nodes notice by polling: a notification only saves time. */
export function createNotifier(stopping: AbortSignal): Notifier {
  const waiting = new Map<OrderId, Set<() => void>>()
  const notify = (id: OrderId) => {
    for (const wake of waiting.get(id) ?? []) wake()
  }
  stopping.addEventListener('abort', () => {
    for (const id of waiting.keys()) notify(id)
  })
  return {
    notify,
    async wait(id, ms) {
      if (stopping.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const wakers = waiting.get(id) ?? new Set()
      waiting.set(id, wakers.add(resolve))
      const timer = setTimeout(resolve, ms)
      await promise
      clearTimeout(timer)
      wakers.delete(resolve)
      if (wakers.size === 0) waiting.delete(id)
    },
  }
}
