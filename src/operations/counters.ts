import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import type { Order, State } from '../orders/order.ts'
import type { Moved, OrderStore } from '../orders/ports.ts'
import { happeningNames, type Told } from './reporter.ts'

/** One answered request. The route is a pattern: an address would name orders and people. */
interface Answered {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}

/** What this process did since it started. */
export interface Counters {
  readonly registry: Registry
  answered(request: Answered): void
  /** An order came into this state. Only ends are counted. */
  cameInto(state: State): void
  happened(name: Told['name']): void
}

/** The ends of a purchase, in the words of the metric. */
const outcomes: Readonly<Partial<Record<State, string>>> = {
  FULFILLED: 'delivered',
  FULFILLMENT_FAILED: 'failed',
  EXPIRED: 'expired',
  PAYMENT_FAILED: 'payment_failed',
}

/** From an answer out of memory to a purchase that waits as long as it may. */
const secondsBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30]

/** Gauges of prom-client that end as counters do; the same, by type, stand without the ending. */
const misnamed = ['active_resources_total', 'active_handles_total', 'active_requests_total']

export function createCounters(): Counters {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(`nodejs_${name}`)
  const registers = [registry]
  const requests = new Counter({
    name: 'kiosk402_http_requests_total',
    help: 'Requests answered, by route pattern, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'kiosk402_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, by route pattern and method.',
    labelNames: ['route', 'method'],
    buckets: secondsBuckets,
    registers,
  })
  const purchases = counterOf(registry, Object.values(outcomes), {
    name: 'kiosk402_purchases_total',
    help: 'Purchases that this process brought to an end, by outcome.',
    label: 'outcome',
  })
  const happenings = counterOf(registry, happeningNames, {
    name: 'kiosk402_happenings_total',
    help: 'What operators should hear about, by its name in the log.',
    label: 'happening',
  })

  return {
    registry,
    answered({ method, route, status, seconds }) {
      requests.inc({ route, method, status })
      durations.observe({ route, method }, seconds)
    },
    cameInto(state) {
      const outcome = outcomes[state]
      if (outcome !== undefined) purchases(outcome)
    },
    happened: happenings,
  }
}

/** Every value is there from the start, at 0, so that its first rise is seen as one. */
function counterOf(
  registry: Registry,
  values: readonly string[],
  { name, help, label }: { name: string; help: string; label: string },
): (value: string) => void {
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] })
  for (const value of values) counter.inc({ [label]: value }, 0)
  return (value) => counter.inc({ [label]: value })
}

/** The same orders; those that this process brings to an end are counted. */
export function countedOrders(orders: OrderStore, { cameInto }: Counters): OrderStore {
  return {
    ...orders,
    async move<T extends Order>(from: Order, to: T): Promise<Moved<T>> {
      const moved = await orders.move(from, to)
      if (moved.won && to.state !== from.state) cameInto(to.state)
      return moved
    },
  }
}

/** The same reporter; what it hears is counted. */
export function countedReporter(
  report: (told: Told) => void,
  { happened }: Counters,
): (told: Told) => void {
  return (happening) => {
    happened(happening.name)
    report(happening)
  }
}
