import { describeTreasury } from '../contract/treasury.ts'
import { memoryCheckouts } from './memory-checkouts.ts'
import { memoryOrders } from './memory-orders.ts'
import { memoryTreasury } from './memory-treasury.ts'
import { handClock } from './orders.ts'

describeTreasury('memory', async (caps) => {
  const clock = handClock()
  const orders = memoryOrders(clock.now)
  const treasury = memoryTreasury({ orders, caps, now: clock.now })
  const checkouts = memoryCheckouts({ now: clock.now, orders, treasury })
  return {
    orders,
    treasury,
    other: treasury,
    checkouts,
    otherCheckouts: checkouts,
    switchRefunds: async (stopped) => {
      treasury.rules.stoppedAt = stopped ? clock.now().getTime() : Infinity
    },
    pass: async (ms) => clock.pass(ms),
    granted: async () => [...treasury.grants.values()].map(({ amount }) => amount),
    close: async () => {},
  }
})
