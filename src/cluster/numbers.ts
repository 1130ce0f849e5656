import { AggregatorRegistry, type Registry } from 'prom-client'

/** What one process counted, as it travels to the primary. */
export type CountedNumbers = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Adds up what all workers counted, those that have ended included. */
export interface Numbers {
  /** What this worker counted until now. */
  seen(worker: number, counted: CountedNumbers): void
  /** The worker has ended: what it counted stays in the sums, what it measured does not. */
  gone(worker: number): Promise<void>
  /** In the Prometheus text format. */
  text(): Promise<string>
}

/**
 * A sum of counters that goes back reads like a restart of everything (Prometheus, `rate`). So what
 * was seen of a worker last is kept when it ends. What it counted after that is lost with it.
 */
export function createNumbers(): Numbers {
  const living = new Map<number, CountedNumbers>()
  let ended: Promise<CountedNumbers> = Promise.resolve([])
  return {
    seen(worker, counted) {
      living.set(worker, counted)
    },
    async gone(worker) {
      const last = living.get(worker) ?? []
      living.delete(worker)
      ended = ended.then((before) => sumOf([before, last.filter(isCount)]).getMetricsAsJSON())
      await ended
    },
    text: async () => sumOf([...living.values(), await ended]).metrics(),
  }
}

/** The types of prom-client call it a number; what it holds is a word. */
const isCount = ({ type }: CountedNumbers[number]) =>
  ['counter', 'histogram'].includes(String(type))

function sumOf(all: readonly CountedNumbers[]): Registry {
  return AggregatorRegistry.aggregate([...all])
}
