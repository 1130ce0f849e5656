import { returnOfReference } from '../../src/checkouts/checkout.ts'
import type { Order } from '../../src/orders/order.ts'
import { isRefunding } from '../../src/orders/order.ts'
import type { Allowance, OrderStore, Treasury } from '../../src/orders/ports.ts'

const hourMs = 3_600_000

interface Grant {
  readonly amount: bigint
  readonly at: number
}

/** The treasury in memory, held to the same contract as the one in PostgreSQL. */
export interface MemoryTreasury extends Treasury {
  /** The switch and the caps, for operators to turn. */
  readonly rules: {
    /** Since when refunds are stopped; epoch milliseconds, Infinity while they are not. */
    stoppedAt: number
    hour: bigint
    day: bigint
  }
  /** What was granted, by order or by the reference of a return. */
  readonly grants: ReadonlyMap<string, Grant>
  /**
   * Grants what is owed under this name.
   *
   * @param owed is asked only where nothing was granted before; it throws when nothing is owed
   */
  grant(name: string, owed: () => bigint): Allowance
}

export function memoryTreasury({
  orders,
  caps,
  now,
}: {
  readonly orders: Pick<OrderStore, 'find'>
  readonly caps: { readonly hour: bigint; readonly day: bigint }
  readonly now: () => Date
}): MemoryTreasury {
  const grants = new Map<string, Grant>()
  const rules = { stoppedAt: Infinity, ...caps }

  /** Refunds and returns are counted each for themselves. */
  function grantedWithin(ms: number, isReturn: boolean): bigint {
    const since = now().getTime() - ms
    return [...grants]
      .filter(([name, { at }]) => at > since && isReturnName(name) === isReturn)
      .reduce((sum, [, { amount }]) => sum + amount, 0n)
  }

  function weigh(name: string, amount: bigint): Allowance {
    const within = (ms: number) => grantedWithin(ms, isReturnName(name))
    if (amount > rules.hour || amount > rules.day) return 'over_cap'
    if (within(hourMs) + amount > rules.hour) return 'hour_cap'
    return within(24 * hourMs) + amount > rules.day ? 'day_cap' : 'granted'
  }

  function grant(name: string, owed: () => bigint): Allowance {
    if (rules.stoppedAt <= now().getTime()) return 'stopped'
    if (grants.has(name)) return 'granted'
    const amount = owed()
    const said = weigh(name, amount)
    if (said === 'granted') grants.set(name, { amount, at: now().getTime() })
    return said
  }

  return {
    rules,
    grants,
    grant,

    async allow(id) {
      // Read first: everything after it happens at once, as under the lock of the database.
      const order = await orders.find(id)
      return grant(id, () => {
        if (!isOwed(order)) throw new Error(`order ${id}: it is not one whose money goes back`)
        return order.amount
      })
    },
  }
}

function isReturnName(name: string): boolean {
  return returnOfReference(name) !== undefined
}

function isOwed(order: Order | undefined): order is Order {
  return order !== undefined && isRefunding(order) && order.settlement === 'FINAL'
}
