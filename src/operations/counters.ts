import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { type MetricName, metrics } from './metric-list.ts'
import { eventNames, type OperatorEvent } from './reporter.ts'

/** One answered request. The route is a pattern, because a URL may contain order ids. */
interface AnsweredRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}

const webhookOutcomes = ['delivered', 'failed', 'given_up'] as const
/** The counters of this process since its start. */
export type Counters = ReturnType<typeof createCounters>

/** From a cached answer to a purchase at its timeout. */
const secondsBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30]

/** prom-client's gauges whose names end like counters. The same values exist by type, under names without `_total`. */
const misnamed = ['active_resources_total', 'active_handles_total', 'active_requests_total']

export function createCounters() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(`nodejs_${name}`)
  const definitionOf = (name: MetricName) => {
    const { help, labels } = metrics[name]
    return { name, help, labelNames: labels, registers: [registry] }
  }
  const requests = new Counter(definitionOf('kiosk402_http_requests_total'))
  const durations = new Histogram({
    ...definitionOf('kiosk402_http_request_duration_seconds'),
    buckets: secondsBuckets,
  })
  const events = new Counter(definitionOf('kiosk402_events_total'))
  const webhooks = new Counter(definitionOf('kiosk402_webhook_deliveries_total'))
  // Start each counter at 0, so that its first increment shows as a rise.
  for (const event of eventNames) events.inc({ event }, 0)
  for (const outcome of webhookOutcomes) webhooks.inc({ outcome }, 0)

  return {
    registry,
    countRequest({ method, route, status, seconds }: AnsweredRequest) {
      requests.inc({ route, method, status })
      durations.observe({ route, method }, seconds)
    },
    countEvent: (event: OperatorEvent['name']) => events.inc({ event }),
    countWebhook: (outcome: (typeof webhookOutcomes)[number]) => webhooks.inc({ outcome }),
  }
}
