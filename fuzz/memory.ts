import type { Memory } from './parts.ts'

const mebibyte = 1_048_576

/** How much more the store may hold at the end than at the beginning, warm-up left out; MiB. */
export const maxGrowth = { heap: 8, rss: 48 } as const

/** The share of the steps after which everything is warm: caches full, limits remembered. */
const warmUpShare = 0.25

export interface Trend {
  /** MiB by which the last third of the steps lies above the first, in the middle of each. */
  readonly heapGrowth: number
  readonly rssGrowth: number
  readonly isFlat: boolean
}

/** Whether memory stays as it is once the store is warm. Medians, so that one step decides nothing. */
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
