import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { eventNames, type OperatorEvent } from './reporter.ts'

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
  happened(name: OperatorEvent['name']): void
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
    help: 'Request duration, by route pattern and method.',
    labelNames: ['route', 'method'],
    buckets: secondsBuckets,
    registers,
  })
  const events = new Counter({
    name: 'kiosk402_events_total',
    help: 'Events for the operator, by name.',
    labelNames: ['event'],
    registers,
  })
  // There from the start, at 0, so that the first rise of each is seen as one.
  for (const event of eventNames) events.inc({ event }, 0)

  return {
    registry,
    answered({ method, route, status, seconds }) {
      requests.inc({ route, method, status })
      durations.observe({ route, method }, seconds)
    },
    happened: (event) => events.inc({ event }),
  }
}

/** The same reporter; what it hears is counted. */
export function countedReporter(
  report: (told: OperatorEvent) => void,
  { happened }: Counters,
): (told: OperatorEvent) => void {
  return (event) => {
    happened(event.name)
    report(event)
  }
}
