import { describeOrderStore } from '../contract/order-store.ts'
import { memoryOrders } from './memory-orders.ts'

describeOrderStore('memory', async () => {
  const store = memoryOrders(() => new Date())
  return {
    store,
    other: store,
    endLease: async (id) => store.endLease(id),
    close: async () => {},
  }
})
