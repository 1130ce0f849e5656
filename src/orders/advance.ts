import { never } from '../lib/never.ts'
import { collect } from './collect.ts'
import { begin, fulfil, keep, recall } from './fulfil.ts'
import { isUnderWay, type Order, restOf } from './order.ts'
import type { Notifier, OrderStore } from './ports.ts'
import { payBack } from './refund.ts'
import { rest, type Step, type StepDeps } from './steps.ts'

export interface AdvanceDeps extends StepDeps {
  readonly orders: OrderStore
  readonly notifier: Notifier
  /** Aborted when this process is about to end: what would wait is left to the sweep of another. */
  readonly stopping: AbortSignal
}

/**
 * Carries an order as far as it can go now, and waits for the outside no longer than `patienceMs`.
 *
 * A live request, the sweep and a restart all come through here, so there is one path to get
 * right. The caller must hold the order's lease; it is given up on the way out.
 */
export async function advance(deps: AdvanceDeps, order: Order, patienceMs: number): Promise<Order> {
  const until = deps.now().getTime() + patienceMs
  let at: Position = { order, step: await stepOf(deps, order), movesLeft: maxMoves }
  while (at.step.type !== 'rest') at = await take(deps, at, until)
  return at.order
}

/** A whole life takes fewer. An order that moves in circles must not hold its worker for ever. */
const maxMoves = 20
const circlePauseMs = 15_000

/** An order, and what comes next for it. */
interface Position {
  readonly order: Order
  readonly step: Step
  readonly movesLeft: number
}

/** Takes one step. Whoever lost the order to another worker stops, with what that one wrote. */
async function take(deps: AdvanceDeps, at: Position, until: number): Promise<Position> {
  const { step, movesLeft } = at
  switch (step.type) {
    case 'move':
    case 'intend':
    case 'learn':
      return movesLeft === 0 ? leave(deps, at, circlePauseMs) : write(deps, at, step)
    case 'wait':
      return pause(deps, at, step.ms, until)
    case 'rest':
      return at
    default:
      return never(step)
  }
}

async function write(
  deps: AdvanceDeps,
  at: Position,
  step: Extract<Step, { to: Order }>,
): Promise<Position> {
  const moved = await deps.orders.move(at.order, step.to)
  if (!moved.won && step.type === 'learn') await insist(deps, moved.order, step.onto)
  // Others have it, or it rests where the write itself ended the lease.
  if (!moved.won || restOf(moved.order) !== null) return { ...at, order: moved.order, step: rest }
  const after = step.type === 'move' ? stepOf(deps, moved.order) : step.effect(moved.order)
  return { order: moved.order, step: await after, movesLeft: at.movesLeft - 1 }
}

/** Writes what was learnt onto whatever others have made of the order, and leaves it to the sweep. */
async function insist(
  { orders }: AdvanceDeps,
  stored: Order,
  onto: (stored: Order) => Order | undefined,
): Promise<void> {
  let now = stored
  for (let tries = 0; tries < maxMoves; tries += 1) {
    const to = onto(now)
    if (!to) return
    const moved = await orders.move(now, to)
    if (moved.won) return orders.release(moved.order, 0)
    now = moved.order
  }
}

/** Waits for the goods while there is patience left. Nobody is kept waiting for a refund. */
async function pause(
  deps: AdvanceDeps,
  at: Position,
  ms: number,
  until: number,
): Promise<Position> {
  const leftMs = isUnderWay(at.order) ? until - deps.now().getTime() : 0
  if (deps.stopping.aborted) return leave(deps, at, 0)
  if (leftMs <= 0) return leave(deps, at, ms)
  await deps.notifier.wait(at.order.id, Math.min(ms, leftMs))
  return { ...at, step: await stepOf(deps, at.order) }
}

/** Leaves the order to the sweep. */
async function leave(deps: AdvanceDeps, at: Position, againInMs: number): Promise<Position> {
  await deps.orders.release(at.order, againInMs)
  return { ...at, step: rest }
}

/** The one next thing to do, once the record has what this process knows. */
async function stepOf(deps: StepDeps, order: Order): Promise<Step> {
  return recall(deps, order, (saved) => stepOf(deps, saved)) ?? next(deps, order)
}

/** The whole life of an order in one switch. */
function next(deps: StepDeps, order: Order): Promise<Step> {
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
      return keep(deps, order)
    case 'PAYMENT_FAILED':
      return Promise.resolve(rest)
    default:
      return never(order)
  }
}
