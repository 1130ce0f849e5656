import type { OrderId } from '../../src/lib/ids.ts'
import { type Order, refundStateOf } from '../../src/orders/order.ts'
import {
  type Delivery,
  type DeliveryResult,
  deliveryLeaseMs,
  type EventStanding,
  giveUpAfterMs,
  maxPendingEvents,
  maxPerReceiver,
  maxWebhooksPerHour,
  type NewWebhook,
  redeliverEveryMs,
  type WebhookState,
  type WebhookStore,
} from '../../src/orders/webhooks/ports.ts'

interface Hook extends NewWebhook {
  readonly order: OrderId
  readonly payer: string
  readonly openedAt: number
  state: WebhookState
  redeliveredAt: number
  finishedAt: number | undefined
  readonly events: Event[]
}

interface Event extends Pick<Delivery, 'id' | 'type' | 'at' | 'data'> {
  attempts: number
  attemptedAt: Date | undefined
  answer: string | undefined
  isDelivered: boolean
  dueAt: number | undefined
  giveUpAt: number
  lockedUntil: number
  lease: string
}

/** The webhooks of `memoryOrders`, which calls them for every write. */
export interface MemoryWebhooks extends WebhookStore {
  opened(order: Order, webhook: NewWebhook): WebhookState
  moved(from: Order, to: Order, finishedAt: number | undefined): void
  /** When the next event is due; epoch milliseconds, Infinity if none waits. */
  nextDue(): number
  /** Moves the ends of all orders into the past; milliseconds. */
  endedEarlier(ms: number): void
}

const hourMs = 3_600_000

export function memoryWebhooks(time: () => number): MemoryWebhooks {
  const hooks = new Map<OrderId, Hook>()
  let leases = 0
  const ofPayer = (payer: string) => [...hooks.values()].filter((hook) => hook.payer === payer)
  const waiting = ({ events }: Hook) => events.filter(({ dueAt }) => dueAt !== undefined)
  const isUnderWay = ({ dueAt, lockedUntil }: Event) => dueAt !== undefined && lockedUntil > time()

  function isOverLimit(payer: string): boolean {
    const recent = ofPayer(payer).filter(
      ({ openedAt, state }) => openedAt > time() - hourMs && state !== 'over_limit',
    )
    const pending = ofPayer(payer).flatMap(waiting).length
    return recent.length >= maxWebhooksPerHour || pending >= maxPendingEvents
  }

  function lease(hook: Hook, event: Event): Delivery {
    leases += 1
    event.attempts += 1
    event.attemptedAt = new Date(time())
    event.lockedUntil = time() + deliveryLeaseMs
    event.lease = `lease ${leases}`
    const { id, type, at, data, attempts } = event
    return {
      id,
      type,
      at,
      data,
      attempts,
      order: hook.order,
      target: hook.target,
      lease: event.lease,
    }
  }

  function newEvent(hook: Hook, type: string, to: Order): Event {
    return {
      id: `msg_${to.id}_${to.version}`,
      type,
      at: new Date(time()),
      data: dataOf(to),
      attempts: 0,
      attemptedAt: undefined,
      answer: undefined,
      isDelivered: false,
      dueAt: hook.state === 'active' ? time() : undefined,
      giveUpAt: time() + giveUpAfterMs,
      lockedUntil: time(),
      lease: '',
    }
  }

  return {
    opened(order, webhook) {
      const payer = order.tender.payer.toLowerCase()
      const state = isOverLimit(payer) ? 'over_limit' : 'active'
      const blank = { redeliveredAt: -Infinity, finishedAt: undefined, events: [] }
      hooks.set(order.id, { ...webhook, ...blank, order: order.id, payer, openedAt: time(), state })
      return state
    },

    moved(from, to, finishedAt) {
      const hook = hooks.get(to.id)
      if (hook === undefined || hook.state === 'over_limit') return
      hook.finishedAt = finishedAt
      const type = typeOf(from, to)
      if (type !== undefined) hook.events.push(newEvent(hook, type, to))
    },

    nextDue() {
      const next = [...hooks.values()].flatMap((hook) => waiting(hook).slice(0, 1))
      return Math.min(
        ...next.map(({ dueAt, lockedUntil }) => Math.max(dueAt ?? Infinity, lockedUntil)),
      )
    },

    endedEarlier(ms) {
      for (const hook of hooks.values()) {
        if (hook.finishedAt !== undefined) hook.finishedAt -= ms
      }
    },

    async find(order) {
      const hook = hooks.get(order)
      return hook && { state: hook.state, events: hook.events.map(confirmationOf) }
    },

    async redeliver(order) {
      const hook = hooks.get(order)
      if (hook === undefined || hook.state === 'over_limit') return 'none'
      if (hook.redeliveredAt > time() - redeliverEveryMs) return 'too_soon'
      hook.redeliveredAt = time()
      hook.state = 'active'
      for (const event of hook.events) {
        Object.assign(event, { dueAt: time(), attempts: 0, giveUpAt: time() + giveUpAfterMs })
      }
      return hook.events.length
    },

    async claimDue(limit) {
      const places = new Map<string, number>()
      for (const hook of hooks.values()) {
        const busy = hook.events.filter(isUnderWay).length
        places.set(hook.receiver, (places.get(hook.receiver) ?? 0) + busy)
      }
      const due = [...hooks.values()]
        .flatMap((hook) =>
          waiting(hook)
            .slice(0, 1)
            .map((event) => ({ hook, event })),
        )
        .filter(({ event }) => (event.dueAt ?? Infinity) <= time() && !isUnderWay(event))
        .sort((one, other) => (one.event.dueAt ?? 0) - (other.event.dueAt ?? 0))
      const taken = due.filter(({ hook: { receiver } }) => {
        const place = (places.get(receiver) ?? 0) + 1
        places.set(receiver, place)
        return place <= maxPerReceiver
      })
      return taken.slice(0, limit).map(({ hook, event }) => lease(hook, event))
    },

    async end(delivery, result) {
      const hook = hooks.get(delivery.order)
      const event = hook?.events.find(({ id }) => id === delivery.id)
      if (hook === undefined || event?.lease !== delivery.lease) return false
      endedBy(event, result, time())
      if (result.type === 'gone') {
        hook.state = 'gone'
        for (const other of hook.events) other.dueAt = undefined
      }
      return result.type !== 'delivered' && event.dueAt === undefined
    },

    async forget(endedBefore) {
      const ended = [...hooks.values()].filter(
        ({ finishedAt = Infinity }) => finishedAt < endedBefore.getTime(),
      )
      for (const { order } of ended) hooks.delete(order)
      return ended.length
    },

    async facts() {
      const pending = [...hooks.values()].flatMap(waiting)
      const since = Math.min(...pending.map(({ giveUpAt }) => giveUpAt - giveUpAfterMs))
      const oldest = pending.length === 0 ? undefined : (time() - since) / 1_000
      return { pending: pending.length, oldestPendingSeconds: oldest }
    },
  }
}

/** The type of the event for this change; undefined if the change has no event. */
function typeOf(from: Order, to: Order): string | undefined {
  const refund = refundStateOf(to)
  if (from.state !== to.state) return `order.${to.state.toLowerCase()}`
  return refundStateOf(from) === refund ? undefined : `order.${refund?.toLowerCase()}`
}

function endedBy(event: Event, result: DeliveryResult, now: number): void {
  event.lease = ''
  event.lockedUntil = now
  event.answer = result.answer
  event.isDelivered ||= result.type === 'delivered'
  event.dueAt =
    result.type === 'failed' && now < event.giveUpAt
      ? Math.min(now + result.againInMs, event.giveUpAt)
      : undefined
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

function confirmationOf(event: Event): EventStanding {
  const { id, type, at, attempts, attemptedAt, answer, isDelivered, dueAt } = event
  const ended = isDelivered ? 'delivered' : 'given_up'
  return {
    ...{ id, type, at, attempts, attemptedAt, answer },
    state: dueAt === undefined ? ended : 'pending',
    nextAttemptAt: dueAt === undefined ? undefined : new Date(dueAt),
  }
}
