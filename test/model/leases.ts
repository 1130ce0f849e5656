import { isFinished, type Order, restOf } from '../../src/orders/order.ts'
import type { Opened, OrderStore } from '../../src/orders/ports.ts'
import { leaseMs, type Moved } from '../../src/orders/workflow.ts'
import type { Clock } from './clock.ts'

export interface LeaseBook {
  /** Wraps the store of one node to record its leases. */
  watch(store: OrderStore, node: number): OrderStore
}

/** Records which node holds the lease of each order, to find orders that are given to two nodes at once. */
export function leaseBook(clock: Clock, complain: (what: string) => void): LeaseBook {
  const held = new Map<string, { readonly node: number; readonly until: number }>()
  const time = () => clock.now().getTime()
  const take = ({ id }: Order, node: number) => held.set(id, { node, until: time() + leaseMs })

  return {
    watch: (store, node) => ({
      ...store,

      async open(order, keys, recipient): Promise<Opened> {
        const opened = await store.open(order, keys, recipient)
        if (opened.isNew) take(opened.order, node)
        return opened
      },

      async move(from: Order, to: Order): Promise<Moved<Order>> {
        const moved = await store.move(from, to)
        if (!moved.won) return moved
        // Some moves let the order rest, without a lease.
        if (isFinished(moved.record) || restOf(moved.record) !== null) held.delete(from.id)
        else take(moved.record, node)
        return moved
      },

      async release(order, againInMs) {
        await store.release(order, againInMs)
        const now = await store.find(order.id)
        if (now?.version === order.version) held.delete(order.id)
      },

      async claimDue(...wanted) {
        const claimed = await store.claimDue(...wanted)
        for (const order of claimed) {
          const lease = held.get(order.id)
          if (lease && time() < lease.until) {
            complain(`node ${node} was given an order that node ${lease.node} holds`)
          }
          take(order, node)
        }
        return claimed
      },
    }),
  }
}
