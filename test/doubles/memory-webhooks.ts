import type { OrderId } from '../../src/lib/ids.ts'
import { type Order, refundStateOf } from '../../src/orders/order.ts'
import {
  type Delivery,
  deliveryLeaseMs,
  type NewWebhook,
  type WebhookState,
  type WebhookStore,
} from '../../src/orders/webhooks/ports.ts'

/** For how long an event is tried by itself; milliseconds. */
export const giveUpAfterMs = 3 * 86_400_000

interface Event extends Omit<Delivery, 'lease'> {
  answer: string | null
  isDelivered: boolean
  dueAt: number | undefined
  lockedUntil: number
  readonly giveUpAt: number
}

/** The webhooks of `memoryOrders`, which calls them for every write, without the limits of the database. */
export interface MemoryWebhooks extends WebhookStore {
  opened(order: Order, webhook: NewWebhook): WebhookState
  moved(from: Order, to: Order): void
  /** When the next event is due; epoch milliseconds, Infinity if none waits. */
  nextDue(): number
}

export function memoryWebhooks(time: () => number): MemoryWebhooks {
  const targets = new Map<OrderId, NewWebhook>()
  const events: Event[] = []
  const leaseOf = ({ attempts }: { readonly attempts: number }) => `lease ${attempts}`
  /** The first event of each order that waits. */
  const first = () => {
    const waiting = events.filter(({ dueAt }) => dueAt !== undefined)
    return waiting.filter((one) => one === waiting.find(({ order }) => order === one.order))
  }
  const freeAt = ({ dueAt = Infinity, lockedUntil }: Event) => Math.max(dueAt, lockedUntil)
  return {
    opened({ id }, webhook) {
      targets.set(id, webhook)
      return 'active'
    },

    moved(from, to) {
      const target = targets.get(to.id)?.target
      const type = typeOf(from, to)
      if (target === undefined || type === undefined) return
      events.push({
        ...{ id: `msg_${to.id}_${to.version}`, type, at: new Date(time()), data: dataOf(to) },
        ...{ order: to.id, target, attempts: 0, answer: null, isDelivered: false },
        ...{ dueAt: time(), lockedUntil: time(), giveUpAt: time() + giveUpAfterMs },
      })
    },

    nextDue: () => Math.min(...first().map(freeAt)),

    async find(order) {
      if (!targets.has(order)) return undefined
      const theirs = events.filter((event) => event.order === order)
      const shown = theirs.map(({ id, type, at, attempts, answer, isDelivered, dueAt }) => {
        const ended = isDelivered ? ('delivered' as const) : ('given_up' as const)
        const state = dueAt === undefined ? ended : ('pending' as const)
        const unknown = { attemptedAt: null, nextAttemptAt: null }
        return { ...unknown, id, type, at, attempts, answer, state }
      })
      return { state: 'active', events: shown }
    },

    async claimDue(limit) {
      const due = first().filter((event) => freeAt(event) <= time())
      return due.slice(0, limit).map((event) => {
        const attempts = event.attempts + 1
        Object.assign(event, { attempts, lockedUntil: time() + deliveryLeaseMs })
        return { ...event, lease: leaseOf({ attempts }) }
      })
    },

    async end({ id, lease }, result) {
      const event = events.find((one) => one.id === id)
      if (event === undefined || lease !== leaseOf(event)) return false
      const isTriedAgain = result.type === 'failed' && time() < event.giveUpAt
      event.dueAt = isTriedAgain ? Math.min(time() + result.againInMs, event.giveUpAt) : undefined
      event.lockedUntil = time()
      event.answer = result.answer
      event.isDelivered = result.type === 'delivered'
      return result.type !== 'delivered' && !isTriedAgain
    },

    redeliver: async () => 'none',
    forget: async () => 0,
    countPending: async () => first().length,
  }
}

/** The type of the event for this change; undefined if the change has no event. */
function typeOf(from: Order, to: Order): string | undefined {
  const refund = refundStateOf(to)
  if (from.state !== to.state) return `order.${to.state.toLowerCase()}`
  return refundStateOf(from) === refund ? undefined : `order.${refund?.toLowerCase()}`
}

function dataOf(order: Order): Delivery['data'] {
  const payout = 'payout' in order ? order.payout : undefined
  return {
    orderId: order.id,
    paymentId: order.paymentId,
    state: order.state,
    refund_state: refundStateOf(order),
    transactionHash: 'receipt' in order ? order.receipt.transaction.toLowerCase() : null,
    refundTransactionHash: payout?.state === 'CONFIRMED' ? payout.transaction.toLowerCase() : null,
  }
}
