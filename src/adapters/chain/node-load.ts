import { isTooOften } from './faults.ts'

/** How a node copes with its load. */
export interface NodeLoad {
  /** Records the outcome of one call: an answer, or this error. */
  note(error?: unknown): void
  hasAnsweredSince(time: number): boolean
  /** Whether it has just refused a call because of its rate limit. */
  isCrowded(): boolean
}

/** Providers count calls by the second, some by ten seconds. */
const crowdedMs = 2_000

export function nodeLoad(now: () => number = () => performance.now()): NodeLoad {
  let answeredAt = Number.NEGATIVE_INFINITY
  let refusedAt = Number.NEGATIVE_INFINITY
  return {
    note(error) {
      if (error === undefined) answeredAt = now()
      else if (isTooOften(error)) refusedAt = now()
    },
    hasAnsweredSince: (time) => answeredAt >= time,
    isCrowded: () => now() - refusedAt < crowdedMs,
  }
}

/** How many payments are checked at once, so that callers who pay nothing cannot use up the node. */
const maxChecks = 100
/** The same while the node is crowded: the rest of its quota is for paid orders and for probes. */
const checksWhenCrowded = 4

/** Runs a check, or returns `busy` if too many are under way. */
export type ChecksAtOnce = <T>(check: () => Promise<T>, busy: T) => Promise<T>

export function checksAtOnce(load: Pick<NodeLoad, 'isCrowded'>): ChecksAtOnce {
  let underWay = 0
  return async (check, busy) => {
    if (underWay >= (load.isCrowded() ? checksWhenCrowded : maxChecks)) return busy
    underWay += 1
    try {
      return await check()
    } finally {
      underWay -= 1
    }
  }
}
