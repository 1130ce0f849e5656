import type { Filters } from '../../src/catalog/search/filters.ts'
import type { Engine } from './engine.ts'

/** The settings of the process of one engine. */
export interface Settings {
  readonly name: string
  readonly offers: number
  readonly queries: number
  /** The first pass ends after the query during which this time runs out. */
  readonly firstPassMs: number
  readonly databaseUrl: string
}

/** The times and totals of one pass, in the order of the queries. */
export interface Pass {
  readonly micros: readonly number[]
  readonly totals: readonly number[]
}

/** What the process of an engine reports after its build and its first pass. */
export interface Report extends Pass {
  readonly buildMs: number
  /** Growth of the process from before the build to after the first pass, without garbage. */
  readonly residentMb: number
  /** The same for what JavaScript holds: objects and buffers. */
  readonly heapMb: number
  readonly outsideMb?: number | undefined
}

/** Runs one query after the other. */
export async function passOver(
  engine: Engine,
  queries: readonly Filters[],
  maxMs = Number.POSITIVE_INFINITY,
): Promise<Pass> {
  const micros: number[] = []
  const totals: number[] = []
  const startedAt = performance.now()
  for (const filters of queries) {
    const at = performance.now()
    const answer = engine.ask(filters)
    const total = typeof answer === 'number' ? answer : await answer
    const now = performance.now()
    micros.push((now - at) * 1_000)
    totals.push(total)
    if (now - startedAt > maxMs) break
  }
  return { micros, totals }
}
