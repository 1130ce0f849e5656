import { AggregatorRegistry, type Registry } from 'prom-client'

/** The metrics of one process, in the JSON form that prom-client aggregates. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Sums the metrics of all workers, including the counters of workers that have exited. */
export interface ClusterMetrics {
  /** Replaces the metrics of this worker with newer ones. */
  update(worker: number, values: MetricValues): void
  /** Drops the gauges of an exited worker and keeps its counters and histograms in the sums. */
  remove(worker: number): Promise<void>
  /** The sums in the Prometheus text format. */
  text(): Promise<string>
}

/**
 * Prometheus takes a counter that decreases for a restart (`rate`), so the last known counters of an
 * exited worker stay in the sums. Counts that the worker made after they were read are lost.
 */
export function createClusterMetrics(): ClusterMetrics {
  const live = new Map<number, MetricValues>()
  let exited: Promise<MetricValues> = Promise.resolve([])
  return {
    update(worker, values) {
      live.set(worker, values)
    },
    async remove(worker) {
      const last = live.get(worker) ?? []
      live.delete(worker)
      exited = exited.then((before) => sumOf([before, last.filter(isCount)]).getMetricsAsJSON())
      await exited
    },
    text: async () => sumOf([...live.values(), await exited]).metrics(),
  }
}

/** prom-client declares `type` as a number, but it is a string at runtime. */
const isCount = ({ type }: MetricValues[number]) => ['counter', 'histogram'].includes(String(type))

function sumOf(all: readonly MetricValues[]): Registry {
  return AggregatorRegistry.aggregate([...all])
}
