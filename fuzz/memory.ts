import type { Memory } from './parts.ts'

const mebibyte = 1_048_576

/** How much the memory may grow after the warm-up; MiB. */
export const maxGrowth = { heap: 8, rss: 48 } as const

/** The share of the steps after which caches are full and rate limits remember all clients. */
const warmUpShare = 0.25

export interface Trend {
  /** Median of the last third of the steps after the warm-up, minus that of the first third; MiB. */
  readonly heapGrowth: number
  readonly rssGrowth: number
  readonly isFlat: boolean
}

/** Whether memory stays flat after the warm-up. Uses medians, so that no single step decides. */
export function trendOf(steps: readonly Memory[]): Trend {
  const warm = steps.slice(Math.ceil(steps.length * warmUpShare))
  const heapGrowth = growthOf(warm.map(({ heapBytes }) => heapBytes))
  const rssGrowth = growthOf(warm.map(({ rssBytes }) => rssBytes))
  const isFlat = heapGrowth <= maxGrowth.heap && rssGrowth <= maxGrowth.rss
  return { heapGrowth, rssGrowth, isFlat }
}

function growthOf(bytes: readonly number[]): number {
  const third = Math.max(1, Math.floor(bytes.length / 3))
  return (median(bytes.slice(-third)) - median(bytes.slice(0, third))) / mebibyte
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, next) => one - next)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
