import { describePayoutLimits } from '../contract/payout-limits.ts'
import { memoryCheckouts } from './memory-checkouts.ts'
import { memoryOrders } from './memory-orders.ts'
import { memoryPayoutLimits } from './memory-payout-limits.ts'
import { handClock } from './orders.ts'

describePayoutLimits('memory', async (caps) => {
  const clock = handClock()
  const orders = memoryOrders(clock.now)
  const payoutLimits = memoryPayoutLimits({ orders, caps, now: clock.now })
  const checkouts = memoryCheckouts({ now: clock.now, orders, payoutLimits })
  return {
    orders,
    payoutLimits,
    other: payoutLimits,
    checkouts,
    switchRefunds: async (stopped) => {
      payoutLimits.rules.stoppedAt = stopped ? clock.now().getTime() : Infinity
    },
    pass: async (ms) => clock.pass(ms),
    granted: async () => [...payoutLimits.grants.values()].map(({ amount }) => amount),
    close: async () => {},
  }
})
