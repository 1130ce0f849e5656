import { Counter, Gauge as PrometheusGauge, Registry } from 'prom-client'
import type { LiveCatalog } from '../catalog/catalog.ts'
import type { Pricing } from '../catalog/pricing.ts'
import type { CheckoutFacts } from '../checkouts/ports.ts'
import type { Health } from '../health/health.ts'
import type { OrderFacts } from '../orders/ports.ts'
import type { ChainFacts } from '../payments/ports.ts'
import {
  type CatalogFacts,
  type Gauge,
  gaugesOf,
  type NodesSeen,
  type SupplierWallet,
} from './gauges.ts'
import { keptBriefly } from './looks.ts'
import { noted } from './probes.ts'

/** Where the numbers come from. */
export interface MetricsDeps {
  readonly now: () => Date
  readonly monotonicMs: () => number
  readonly health: Pick<Health, 'bounds' | 'means' | 'note' | 'parts' | 'signals' | 'tally'>
  /** What was counted since the start, in the Prometheus text format. */
  readonly counted: () => Promise<string>
  /** Throws when the database does not answer. */
  readonly orders: () => Promise<OrderFacts>
  /** Throws when the database does not answer. */
  readonly checkouts: () => Promise<CheckoutFacts>
  /** Throws when the chain does not answer. */
  readonly chain: () => Promise<ChainFacts>
  /** What the last probe saw; undefined when it failed. */
  readonly supplierWallet: () => SupplierWallet | undefined
  /** The nodes as this one has met them last. */
  readonly nodes: () => NodesSeen
  readonly liveCatalog: Pick<LiveCatalog, 'current'>
  readonly pricing: Pick<Pricing, 'rates'>
}

/** The metrics of now, in the Prometheus text format. */
export interface MetricsPage {
  readonly contentType: string
  readonly body: string
}

/**
 * Writes what was counted and what stands at this moment. Never fails for a part that is
 * down or slow: its metrics are left out. Whether a part is down, `health` says, as it does to the signals.
 */
export function createMetrics(deps: MetricsDeps): () => Promise<MetricsPage> {
  const { health, monotonicMs } = deps
  // Whatever such a look shows of the database, its statements tell by themselves (`onTrouble`).
  const lookAtOrders = keptBriefly(() => deps.orders().catch(() => undefined), monotonicMs)
  const lookAtCheckouts = keptBriefly(() => deps.checkouts().catch(() => undefined), monotonicMs)
  const lookAtChain = keptBriefly(() => noted('chain', health, deps.chain), monotonicMs)

  return async () => {
    const [orders, checkouts, chain] = await Promise.all([
      lookAtOrders(),
      lookAtCheckouts(),
      lookAtChain(),
    ])
    const gauges = gaugesOf({
      now: deps.now(),
      // Read after the looks, because what they met is part of it.
      parts: health.parts(),
      bounds: health.bounds(),
      gas: health.means()?.gas,
      takesPurchases: health.signals().agent_action !== 'stop',
      orders,
      checkouts,
      chain,
      supplierCalls: health.tally('supplier'),
      supplierWallet: deps.supplierWallet(),
      nodes: deps.nodes(),
      catalog: catalogFacts(deps.liveCatalog),
      ratesAsOf: deps.pricing.rates()?.asOf,
    })
    const [counted, standing] = await Promise.all([deps.counted(), textOf(gauges)])
    return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: `${counted}\n${standing}` }
  }
}

function catalogFacts(liveCatalog: MetricsDeps['liveCatalog']): CatalogFacts {
  const { readAt, size, sold, rejected } = liveCatalog.current()
  const onSale = Object.values(sold).reduce((sum, index) => sum + index.size, 0)
  return { readAt: size === 0 ? undefined : readAt, onSale, rejected }
}

/** Made anew each time, so that a number from before never stands in for one that is not known. */
function textOf(gauges: readonly Gauge[]): Promise<string> {
  const registry = new Registry()
  for (const { name, type, help, values } of gauges) {
    const labelNames = Object.keys(values[0]?.labels ?? {})
    if (values.length === 0) continue
    const Metric = type === 'counter' ? Counter : PrometheusGauge
    const metric = new Metric({ name, help, labelNames, registers: [registry] })
    for (const { labels = {}, value } of values) metric.inc(labels, value)
  }
  return registry.metrics()
}
