import { never } from '../primitives/never.ts'
import { collect } from './collect.ts'
import { begin, fulfil } from './fulfil.ts'
import type { Order } from './order.ts'
import type { Doorbell, OrderStore } from './ports.ts'
import { payBack } from './refund.ts'
import { rest, type Step, type StepDeps } from './steps.ts'

export interface AdvanceDeps extends StepDeps {
  readonly orders: OrderStore
  readonly doorbell: Doorbell
}

/**
 * Carries an order as far as it can go now, and waits for the outside no longer than `patienceMs`.
 *
 * A live request, the sweep and a restart all come through here, so there is one path to get
 * right. The caller must hold the order's lease; it is given up on the way out.
 */
export async function advance(deps: AdvanceDeps, order: Order, patienceMs: number): Promise<Order> {
  const until = deps.now().getTime() + patienceMs
  let at: Position = { order, step: await stepOf(deps, order) }
  while (at.step.type !== 'rest') at = await take(deps, at, until)
  return at.order
}

/** An order, and what comes next for it. */
interface Position {
  readonly order: Order
  readonly step: Step
}

/** Takes one step. Whoever lost the order to another worker stops, with what that one wrote. */
async function take(
  deps: AdvanceDeps,
  { order, step }: Position,
  until: number,
): Promise<Position> {
  switch (step.type) {
    case 'move':
    case 'intend': {
      const moved = await deps.orders.move(order, step.to)
      if (!moved.won) return { order: moved.order, step: rest }
      const next = step.type === 'intend' ? step.effect(moved.order) : stepOf(deps, moved.order)
      return { order: moved.order, step: await next }
    }
    case 'wait': {
      const leftMs = until - deps.now().getTime()
      if (leftMs <= 0) {
        await deps.orders.release(order, step.ms)
        return { order, step: rest }
      }
      await deps.doorbell.wait(order.id, Math.min(step.ms, leftMs))
      return { order, step: await stepOf(deps, order) }
    }
    case 'rest':
      return { order, step }
    default:
      return never(step)
  }
}

/** The one next thing to do: the whole life of an order in one switch. */
function stepOf(deps: StepDeps, order: Order): Promise<Step> {
  switch (order.state) {
    case 'PAYMENT_PENDING':
      return collect(deps, order)
    case 'PAID':
      return begin(deps, order)
    case 'FULFILLING':
      return fulfil(deps, order)
    case 'FULFILLMENT_FAILED':
    case 'EXPIRED':
      return payBack(deps, order)
    case 'FULFILLED':
    case 'PAYMENT_FAILED':
      return Promise.resolve(rest)
    default:
      return never(order)
  }
}
