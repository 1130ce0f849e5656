import { isRefunding, type Order } from '../../src/orders/order.ts'
import {
  LimitReached,
  type LimitStore,
  type Spend,
  type StoredLimits,
} from '../../src/orders/ports.ts'
import { dayMs, limitHit, rulesAt, spentOn } from '../../src/orders/spending-limits/rules.ts'

/** Spending limits in memory. */
export function memoryLimits(
  ordersOf: (payer: string) => readonly Order[],
  isApproved: (order: Order) => boolean,
) {
  const held = new Map<string, StoredLimits>()
  let writes = 0

  const spendsAfter = (wallet: string, after: Date): readonly Spend[] =>
    ordersOf(wallet).filter((order) => order.placedAt > after && isSpent(order))

  const store: LimitStore = {
    find: async (wallet) => held.get(wallet.toLowerCase()),
    spends: async (wallet, after) => spendsAfter(wallet, after),

    async replace(wallet, read, limits) {
      const key = wallet.toLowerCase()
      if (held.get(key)?.revision !== read?.revision) return false
      writes += 1
      if (limits) held.set(key, { limits, revision: String(writes) })
      else held.delete(key)
      return true
    },

    async forgetLifted(now) {
      const lifted = [...held].filter(
        ([, { limits }]) => limits.coming && Object.keys(rulesAt(limits, now)).length === 0,
      )
      for (const [wallet] of lifted) held.delete(wallet)
      return lifted.length
    },
  }

  return {
    ...store,

    /** Does the same as the trigger of the database. @throws LimitReached */
    requireWithin(order: Order, recipients: readonly string[] = []): void {
      const { amount, item, placedAt, payment } = order
      const stored = held.get(payment.payer.toLowerCase())
      if (!stored) return
      const since = new Date(placedAt.getTime() - dayMs)
      const spent = spentOn(spendsAfter(payment.payer, since))
      const asked = {
        ...{ amount, kind: item.kind, country: item.country, recipients },
        isApproved: isApproved(order),
      }
      const limit = limitHit(rulesAt(stored.limits, placedAt), asked, spent)
      if (limit) throw new LimitReached(limit)
    },
  }
}

/** Whether the money of an order counts as spent: not if it never came, or was refunded. */
function isSpent(order: Order): boolean {
  if (order.state === 'PAYMENT_FAILED') return false
  if ('settlement' in order && order.settlement === 'LOST') return false
  return !(isRefunding(order) && order.payout?.state === 'CONFIRMED')
}
