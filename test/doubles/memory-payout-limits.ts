import { returnOfReference } from '../../src/checkouts/checkout.ts'
import type { CheckoutId, OrderId } from '../../src/lib/ids.ts'
import { isRefunding, type Order, type Refunding } from '../../src/orders/order.ts'
import type { Allowance, PayoutLimits } from '../../src/orders/payout.ts'
import type { MemoryOrders } from './memory-orders.ts'

const hourMs = 3_600_000

interface Grant {
  readonly amount: bigint
  readonly at: number
}

/** Payout limits in memory: the switch and the caps, without the shares of payers and clients. */
export interface MemoryPayoutLimits extends PayoutLimits {
  /** The switch and the caps, for tests to change. */
  readonly rules: {
    /** Since when refunds are stopped; epoch milliseconds, Infinity if they are not. */
    stoppedAt: number
    hour: bigint
    day: bigint
  }
  /** The grants, by the id of an order or the reference of a return. */
  readonly grants: ReadonlyMap<string, Grant>
  /** The worth of a return that is due; throws for any other. The checkouts in memory replace it. */
  readonly returns: { worth: (id: CheckoutId, seq: number) => bigint }
}

export function memoryPayoutLimits({
  orders,
  caps,
  now,
}: {
  readonly orders: Pick<MemoryOrders, 'find'>
  readonly caps: { readonly hour: bigint; readonly day: bigint }
  readonly now: () => Date
}): MemoryPayoutLimits {
  const grants = new Map<string, Grant>()
  const rules = { stoppedAt: Infinity, ...caps }

  /** Refunds and returns are counted separately. */
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

  /** @param owed called only without an earlier grant; throws if nothing is owed */
  function grant(name: string, owed: () => bigint): Allowance {
    if (rules.stoppedAt <= now().getTime()) return 'stopped'
    if (grants.has(name)) return 'granted'
    const amount = owed()
    const said = weigh(name, amount)
    if (said === 'granted') grants.set(name, { amount, at: now().getTime() })
    return said
  }

  const returns: MemoryPayoutLimits['returns'] = {
    worth: (id, seq) => {
      throw new Error(`payout ${id}-${seq}: nothing is due`)
    },
  }

  return {
    rules,
    grants,
    returns,

    async allow(reference) {
      const one = returnOfReference(reference)
      if (one) return grant(reference, () => returns.worth(one.id, one.seq))
      // The only await comes first: the rest is atomic, as under the lock of the database.
      const id = reference as OrderId
      const order = await orders.find(id)
      const owed = () => {
        if (!isOwed(order)) throw new Error(`payout ${id}: nothing is due`)
        return order.amount
      }
      return grant(id, owed)
    },
  }
}

function isReturnName(name: string): boolean {
  return returnOfReference(name) !== undefined
}

function isOwed(order: Order | undefined): order is Refunding {
  return order !== undefined && isRefunding(order) && order.settlement === 'FINAL'
}
