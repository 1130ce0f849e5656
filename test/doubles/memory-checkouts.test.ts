import { describeCheckoutStore } from '../contract/checkout-store.ts'
import { memoryCheckouts } from './memory-checkouts.ts'
import { memoryOrders } from './memory-orders.ts'
import { memoryPayoutLimits } from './memory-payout-limits.ts'

describeCheckoutStore('memory', async () => {
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  const orders = memoryOrders(now)
  const caps = { hour: 10n ** 50n, day: 10n ** 50n }
  const payoutLimits = memoryPayoutLimits({ orders, caps, now })
  const store = memoryCheckouts({ now, orders, payoutLimits })
  return {
    store,
    other: store,
    orders,
    payoutLimits,
    endLease: async (id) => store.endLease(id),
    pass: async (ms) => {
      aheadMs += ms
    },
    close: async () => {},
  }
})
