import { describeOrderStore } from '../contract/order-store.ts'
import { memoryOrders } from './memory-orders.ts'

describeOrderStore('memory', async () => {
  let aheadMs = 0
  const store = memoryOrders(() => new Date(Date.now() + aheadMs))
  return {
    store,
    other: store,
    limits: store.limits,
    approvals: store.approvals,
    endLease: async (id) => store.endLease(id),
    grant: async () => {},
    pass: async (ms) => {
      aheadMs += ms
    },
    close: async () => {},
  }
})
