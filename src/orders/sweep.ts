import { within } from '../lib/within.ts'
import type { Tender } from '../payments/payment.ts'
import { type AdvanceDeps, advance } from './advance.ts'
import type { Order } from './order.ts'
import { leaseMs } from './ports.ts'

/** Goes on with due orders, so many at once. */
export interface Sweeper {
  /** Takes up what is due, as far as there is room, and does not wait for what comes of it. */
  look(most: number): Promise<void>
  /** Ends when nothing is under way any more. */
  settled(): Promise<void>
}

/**
 * A sweeper in which an order that takes long holds up no other one. Whatever hangs for longer than any
 * work may take gives its place up; others can work on its order by then.
 *
 * @param rail only with orders that were paid in this way
 */
export function createSweeper(
  deps: AdvanceDeps,
  { atOnce, rail }: { readonly atOnce: number; readonly rail: Tender['rail'] },
): Sweeper {
  const underWay = new Set<Promise<unknown>>()
  const start = (order: Order) => {
    const work = () => within(2 * leaseMs, advance(deps, order, 0), 'It hangs.')
    const place = safely(deps, order, work).finally(() => underWay.delete(place))
    underWay.add(place)
  }
  return {
    async look(most) {
      const room = Math.min(most, atOnce - underWay.size)
      if (room <= 0) return
      for (const order of await deps.orders.claimDue(room, rail)) start(order)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}

/**
 * Goes on once with orders that a crash, a slow supplier or an impatient client left behind, and waits
 * for all of them.
 *
 * @returns how many orders were taken; when it is `limit`, there may be more
 */
export async function sweep(deps: AdvanceDeps, limit: number): Promise<number> {
  const due = await deps.orders.claimDue(limit)
  await Promise.all(due.map((order) => safely(deps, order, () => advance(deps, order, 0))))
  return due.length
}

async function safely(
  deps: AdvanceDeps,
  order: Order,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    deps.report({ name: 'step_failed', order: order.id, error })
  }
}
