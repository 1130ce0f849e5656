import { returnOfReference } from '../../src/checkouts/checkout.ts'
import type { CheckoutId, OrderId } from '../../src/lib/ids.ts'
import { isRefunding, type Order, type Refunding } from '../../src/orders/order.ts'
import type { Allowance, PayoutLimits } from '../../src/orders/ports.ts'
import type { MemoryOrders } from './memory-orders.ts'

const hourMs = 3_600_000

interface Grant {
  readonly amount: bigint
  readonly at: number
}

/** Payout limits in memory, tested by the same contract as those in PostgreSQL. */
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
  readonly orders: Pick<MemoryOrders, 'find' | 'current' | 'clientOf'>
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

  const clientOf = ({ id }: Order) => orders.clientOf(id)
  const isSamePayer = (one: Order, other: Order) => payerOf(one) === payerOf(other)
  const isSameClient = (one: Order, other: Order) =>
    clientOf(one) !== undefined && clientOf(one) === clientOf(other)
  const areSame = (one: Order, other: Order) => isSamePayer(one, other) || isSameClient(one, other)

  function grantedOrders(ms: number): readonly Order[] {
    const since = now().getTime() - ms
    return orders.current().filter(({ id }) => (grants.get(id)?.at ?? -Infinity) > since)
  }

  /** The sum of this and all granted orders that share a payer or client with another; 0 if this one shares none. */
  function repeatedWithin(ms: number, order: Order): bigint {
    const given = [...grantedOrders(ms), order]
    const repeated = given.filter((one) =>
      given.some((other) => other.id !== one.id && areSame(one, other)),
    )
    return repeated.includes(order) ? sumOf(repeated) : 0n
  }

  /** Refunds that are due, have no grant, and are not above a cap. */
  function waiting(): readonly Refunding[] {
    return orders
      .current()
      .filter(isOwed)
      .filter(({ id, payout }) => payout?.state === 'DUE' && !grants.has(id))
      .filter(({ amount }) => amount <= rules.hour && amount <= rules.day)
  }

  function isBeyondShare(order: Order): boolean {
    if (repeatedWithin(hourMs, order) * 2n > rules.hour) return true
    if (repeatedWithin(24 * hourMs, order) * 2n > rules.day) return true
    const theirs = sumOf(grantedOrders(hourMs).filter((one) => areSame(one, order)))
    const isLarge = theirs > 0n && (theirs + order.amount) * 4n > rules.hour
    return isLarge && waiting().some((other) => !areSame(other, order))
  }

  /** Whether it would take the room of a refund that has waited for an hour, and not because of its own share. */
  function isBehind(order: Order): boolean {
    const since = now().getTime() - hourMs
    const first = waiting()
      .filter((other) => !isSamePayer(other, order))
      .filter(({ changedAt }) => changedAt.getTime() < since && changedAt < order.changedAt)
      .toSorted((one, other) => one.changedAt.getTime() - other.changedAt.getTime())
      .find((other) => !isBeyondShare(other))
    return first !== undefined && weigh(order.id, order.amount + first.amount) !== 'granted'
  }

  function sharing(order: Order): Allowance {
    return isBeyondShare(order) || isBehind(order) ? 'payer_share' : 'granted'
  }

  /** @param owed called only without an earlier grant; throws if nothing is owed */
  function grant(name: string, owed: () => bigint, order?: Order): Allowance {
    if (rules.stoppedAt <= now().getTime()) return 'stopped'
    if (grants.has(name)) return 'granted'
    const amount = owed()
    const weighed = weigh(name, amount)
    const said = weighed === 'granted' && order ? sharing(order) : weighed
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
      return grant(id, owed, order)
    },
  }
}

function sumOf(orders: readonly Order[]): bigint {
  return orders.reduce((sum, { amount }) => sum + amount, 0n)
}

const payerOf = ({ tender }: Order) => tender.payer.toLowerCase()

function isReturnName(name: string): boolean {
  return returnOfReference(name) !== undefined
}

function isOwed(order: Order | undefined): order is Refunding {
  return order !== undefined && isRefunding(order) && order.settlement === 'FINAL'
}
