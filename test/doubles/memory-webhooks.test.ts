import { describeWebhooks } from '../contract/webhooks.ts'
import { memoryOrders } from './memory-orders.ts'

describeWebhooks('memory', async () => {
  let aheadMs = 0
  const orders = memoryOrders(() => new Date(Date.now() + aheadMs))
  const pass = async (ms: number) => {
    aheadMs += ms
  }
  const { webhooks } = orders
  return {
    store: webhooks,
    other: webhooks,
    orders,
    pass,
    passSinceEnds: async (ms) => webhooks.endedEarlier(ms),
    close: async () => {},
  }
})
