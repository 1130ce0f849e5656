import { returnOfReference } from '../../src/checkouts/checkout.ts'
import { isRefunding, type Order, type Refunding } from '../../src/orders/order.ts'
import type { Allowance, Treasury } from '../../src/orders/ports.ts'
import type { MemoryOrders } from './memory-orders.ts'

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
  grant(name: string, owed: () => bigint, order?: Order): Allowance
}

export function memoryTreasury({
  orders,
  caps,
  now,
}: {
  readonly orders: Pick<MemoryOrders, 'find' | 'current'>
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

  /** Whether it would leave too little for other payers whose refunds wait; what refunds alone are held to. */
  function isBeyondShare(order: Order): boolean {
    const payerOf = ({ tender }: Order) => tender.payer.toLowerCase()
    const waiting = orders
      .current()
      .filter((other) => isOwed(other) && other.refund.step === 'DUE' && !grants.has(other.id))
      .filter((other) => payerOf(other) !== payerOf(order))
      .filter(({ amount }) => amount <= rules.hour && amount <= rules.day)
    if (waiting.length === 0) return false
    const since = now().getTime() - hourMs
    const theirs = orders
      .current()
      .filter((other) => payerOf(other) === payerOf(order))
      .filter(({ id }) => (grants.get(id)?.at ?? 0) > since)
      .reduce((sum, { amount }) => sum + amount, 0n)
    if (theirs > 0n && (theirs + order.amount) * 4n > rules.hour) return true
    const [first] = waiting
      .filter(({ changedAt }) => changedAt.getTime() < since && changedAt < order.changedAt)
      .sort((one, other) => one.changedAt.getTime() - other.changedAt.getTime())
    return first !== undefined && weigh(order.id, order.amount + first.amount) !== 'granted'
  }

  function grant(name: string, owed: () => bigint, order?: Order): Allowance {
    if (rules.stoppedAt <= now().getTime()) return 'stopped'
    if (grants.has(name)) return 'granted'
    const amount = owed()
    const weighed = weigh(name, amount)
    const said = weighed === 'granted' && order && isBeyondShare(order) ? 'payer_share' : weighed
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
      const owed = () => {
        if (!isOwed(order)) throw new Error(`order ${id}: it is not one whose money goes back`)
        return order.amount
      }
      return grant(id, owed, order)
    },
  }
}

function isReturnName(name: string): boolean {
  return returnOfReference(name) !== undefined
}

function isOwed(order: Order | undefined): order is Refunding {
  return order !== undefined && isRefunding(order) && order.settlement === 'FINAL'
}
