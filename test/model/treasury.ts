import { isRefunding } from '../../src/orders/order.ts'
import type { Allowance, OrderStore, Treasury } from '../../src/orders/ports.ts'
import type { OrderId } from '../../src/primitives/ids.ts'

const hourMs = 3_600_000

export interface ModelTreasury extends Treasury {
  /** The switch and the caps, for operators to turn. */
  readonly rules: {
    /** Since when refunds are stopped; epoch milliseconds, Infinity while they are not. */
    stoppedAt: number
    hour: bigint
    day: bigint
  }
  /** What was granted, oldest first. */
  readonly grants: readonly { id: OrderId; amount: bigint; at: number }[]
}

/** Caps and switch in memory, in the words of `allow_refund` in the migrations. */
export function modelTreasury(
  now: () => Date,
  orders: Pick<OrderStore, 'find'>,
  caps: { readonly hour: bigint; readonly day: bigint },
): ModelTreasury {
  const isStopped = () => rules.stoppedAt <= now().getTime()
  const rules = { stoppedAt: Infinity, ...caps }
  const grants: { id: OrderId; amount: bigint; at: number }[] = []

  const grantedIn = (ms: number) =>
    grants
      .filter(({ at }) => at > now().getTime() - ms)
      .reduce((sum, { amount }) => sum + amount, 0n)

  async function owedTo(id: OrderId): Promise<bigint> {
    const order = await orders.find(id)
    if (order && isRefunding(order) && order.settlement === 'FINAL') return order.amount
    throw new Error(`order ${id}: it is not one whose money goes back`)
  }

  function refusalOf(amount: bigint): Exclude<Allowance, 'granted'> | undefined {
    if (isStopped()) return 'stopped'
    if (amount > rules.hour || amount > rules.day) return 'over_cap'
    if (grantedIn(hourMs) + amount > rules.hour) return 'hour_cap'
    return grantedIn(24 * hourMs) + amount > rules.day ? 'day_cap' : undefined
  }

  const isGranted = (id: OrderId) => grants.some((grant) => grant.id === id)

  return {
    rules,
    grants,
    async allow(id) {
      if (isGranted(id)) return isStopped() ? 'stopped' : 'granted'
      const amount = await owedTo(id)
      // From here on nothing is waited for, so that two calls at once cannot both be granted.
      if (isGranted(id)) return 'granted'
      const refused = refusalOf(amount)
      if (!refused) grants.push({ id, amount, at: now().getTime() })
      return refused ?? 'granted'
    },
  }
}
