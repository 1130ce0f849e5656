import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { LiveCatalog } from '../catalog/catalog.ts'
import type { Pricing } from '../catalog/pricing.ts'
import type { CheckoutFacts } from '../checkouts/ports.ts'
import type { Health } from '../health/health.ts'
import { usdcDecimals } from '../lib/money.ts'
import type { OrderFacts } from '../orders/ports.ts'
import type { ChainFacts } from '../payments/payment.ts'
import { cachedBriefly } from './cached-reads.ts'
import type { SupplierWallet } from './float-monitor.ts'
import { type Metric, type MetricName, metrics } from './metric-list.ts'
import type { DearSale, LastRuns, Pace } from './ports.ts'
import { noteOutcome } from './probes.ts'
import { eventNames, type OperatorEvent } from './reporter.ts'
import type { StoreState } from './store-state.ts'

export interface StateDeps {
  readonly now: () => Date
  readonly cacheMs?: number | undefined
  readonly health: Pick<
    Health,
    'bounds' | 'means' | 'note' | 'parts' | 'signals' | 'suppliers' | 'tallies'
  >
  /** Throws when the database does not answer, as the next four do. */
  readonly orderFacts: () => Promise<OrderFacts>
  readonly checkoutFacts: () => Promise<CheckoutFacts>
  readonly webhookEvents: () => Promise<number>
  readonly pace: () => Promise<Pace>
  readonly dearSales: () => Promise<readonly DearSale[]>
  readonly lastRuns: () => Promise<LastRuns>
  readonly chain: () => Promise<ChainFacts>
  readonly supplierWallets: ReadonlyMap<string, () => SupplierWallet | undefined>
  readonly nodes: () => StoreState['nodes']
  readonly liveCatalog: Pick<LiveCatalog, 'current'>
  readonly pricing: Pick<Pricing, 'rates' | 'rules'>
}

/** Of what is read from many orders, and changes slowly. */
const paceCacheMs = 5 * 60_000

/** Reads the state of the store. What belongs to a part that is down or slow is left out. */
export function createStateReader(deps: StateDeps): () => Promise<StoreState> {
  const { health, cacheMs } = deps
  const cached = <T>(read: () => Promise<T | undefined>) => cachedBriefly(read, cacheMs)
  // Each database statement already reports its outcome to `health` (`onTrouble`).
  const readOrders = cached(deps.orderFacts)
  const readCheckouts = cached(deps.checkoutFacts)
  const readWebhookEvents = cached(deps.webhookEvents)
  const readPace = cachedBriefly(deps.pace, cacheMs ?? paceCacheMs)
  const readDearSales = cachedBriefly(deps.dearSales, cacheMs ?? paceCacheMs)
  const readRuns = cached(deps.lastRuns)
  const readChain = cached(() =>
    noteOutcome((...outcome) => health.note('chain', ...outcome), deps.chain),
  )

  return async () => {
    const [orders, checkouts, webhookEvents, pace, sales, runs, chain] = await Promise.all([
      readOrders(),
      readCheckouts(),
      readWebhookEvents(),
      readPace(),
      readDearSales(),
      readRuns(),
      readChain(),
    ])
    return {
      now: deps.now(),
      // Read last, because the reads above update the health.
      parts: health.parts(),
      bounds: health.bounds(),
      gas: health.means()?.gas,
      takesPurchases: health.signals().agent_action !== 'stop',
      orders,
      checkouts,
      webhookEvents,
      pace,
      runs,
      chain,
      suppliers: readSuppliers(deps),
      nodes: deps.nodes(),
      catalog: catalogFacts(deps.liveCatalog),
      belowMargin: sales && belowMargin(sales, deps),
      ratesAsOf: deps.pricing.rates()?.asOf,
    }
  }
}

/** Renders the counters and the current gauges. */
export function createMetrics(
  readState: () => Promise<StoreState>,
  readCounters: () => Promise<string>,
) {
  return async () => {
    const state = await readState()
    const [counters, gauges] = await Promise.all([readCounters(), gaugesOf(state)])
    return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: `${counters}\n${gauges}` }
  }
}

function readSuppliers({ health, supplierWallets }: StateDeps): StoreState['suppliers'] {
  const tallies = health.tallies()
  const entries = Array.from(health.suppliers(), ([name, { state }]) => {
    const calls = tallies.get(name) ?? { good: 0, failed: 0 }
    return [name, { isUp: state !== 'down', calls, wallet: supplierWallets.get(name)?.() }] as const
  })
  return new Map(entries)
}

function catalogFacts(liveCatalog: StateDeps['liveCatalog']): StoreState['catalog'] {
  const { readAt, offers, sold, rejected } = liveCatalog.current()
  const onSale = Object.values(sold).reduce((sum, index) => sum + index.size, 0)
  return { readAt: offers.length === 0 ? undefined : readAt, onSale, rejected }
}

/** @returns how many offers were sold for less than they cost with the least margin, by the rules of now */
function belowMargin(sales: readonly DearSale[], { liveCatalog, pricing }: StateDeps): number {
  const bad = sales.filter(({ offer, price, cost }) => {
    const listed = liveCatalog.current().listedIds.find(offer)
    const { bps, cents } = (listed && pricing.rules().leastMarginOf(listed)) ?? { bps: 0, cents: 0 }
    const least = (Number(cost) * (10_000 + bps)) / 10_000 + cents * 10 ** (usdcDecimals - 2)
    return cost !== undefined && Number(price) < least
  })
  return new Set(bad.map(({ offer }) => offer)).size
}

/** Uses a new registry each time, so that no old value stands in for an unknown one. */
export function gaugesOf(state: StoreState): Promise<string> {
  const registry = new Registry()
  for (const [name, { type, help, labels: labelNames, readValue }] of Object.entries<Metric>(
    metrics,
  )) {
    const value = readValue?.(state) ?? []
    const rows = typeof value === 'number' ? [[value] as const] : value
    if (rows.length === 0) continue
    const Kind = type === 'counter' ? Counter : Gauge
    const metric = new Kind({ name, help, labelNames, registers: [registry] })
    for (const row of rows) {
      metric.labels(...(row.slice(0, -1) as string[])).inc(row.at(-1) as number)
    }
  }
  return registry.metrics()
}

interface AnsweredRequest {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}

const webhookOutcomes = ['delivered', 'failed', 'given_up'] as const
export type Counters = ReturnType<typeof createCounters>

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
