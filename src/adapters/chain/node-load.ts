import { isTooOften } from './faults.ts'

/** How a node bears what it is asked. */
export interface NodeLoad {
  /** What became of one question: an answer, or this error. */
  note(error?: unknown): void
  hasAnsweredSince(time: number): boolean
  /** It has refused a question as one too many, a moment ago. */
  isCrowded(): boolean
}

/** Providers count by the second, some by ten. */
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

/** How many payments are checked at once. Whoever pays nothing shall not use up the node. */
const maxChecks = 100
/** The same while the node is crowded: the rest is for what is paid already, and for the probes. */
const checksWhenCrowded = 4

/** Carries out a check, or gives `busy` where as many as may be are under way. */
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
