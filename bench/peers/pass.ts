import type { Filters } from '../../src/catalog/search/filters.ts'
import type { Engine } from './engine.ts'

/** What a child is told to be. */
export interface Settings {
  readonly name: string
  readonly offers: number
  readonly queries: number
  /** When this time is over, the first pass ends after the question it is at. */
  readonly firstPassMs: number
  readonly databaseUrl: string
}

/** The answers of one pass, in the order of the questions. */
export interface Pass {
  readonly micros: readonly number[]
  readonly totals: readonly number[]
}

/** What a child says when it has built, and asked everything once. */
export interface Report extends Pass {
  readonly buildMs: number
  /** By how much the process grew, garbage taken away, from the offers alone to having answered. */
  readonly residentMb: number
  /** Likewise what JavaScript keeps: objects and buffers. */
  readonly heapMb: number
  readonly outsideMb?: number | undefined
}

/** Asks one question after the other. */
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
