import { type Counting, type LimitRule, slidingWindow, type Taken } from '../http/rate-limit.ts'
import type { CountAsk, Line } from './line.ts'

/** The owner has nothing else to do, so an answer takes a millisecond; a request waits no longer than this. */
const answerWithinMs = 500

/**
 * Counts for all workers, by one clock. The only count there is, so it is exact however the requests
 * of a client are spread.
 */
export function createOwner(rules: readonly LimitRule[], monotonicMs: () => number) {
  const limiters = new Map(
    rules.map((rule) => [rule.name, slidingWindow({ ...rule, monotonicMs })] as const),
  )
  return (asks: readonly CountAsk[]): Promise<Taken[]> =>
    Promise.all(
      asks.map(([name, what, key]) => {
        const limiter = limiters.get(name)
        if (limiter === undefined) throw new Error(`There is no limit "${name}"`)
        return limiter[what](key)
      }),
    )
}

interface Pending {
  readonly ask: CountAsk
  readonly resolve: (taken: Taken) => void
  readonly reject: (error: Error) => void
}

/**
 * Lets the owner count. What is asked in one turn of the event loop travels as one message, so the
 * busier a worker is, the less each request costs.
 */
export function countingAtOwner(line: Pick<Line, 'ask'>): Counting {
  let batch: Pending[] = []

  async function flush(): Promise<void> {
    const asked = batch
    batch = []
    try {
      const asks = asked.map(({ ask }) => ask)
      const answers = await line.ask('count', asks, answerWithinMs)
      asked.forEach(({ resolve, reject }, at) => {
        const taken = answers[at]
        if (taken === undefined) reject(new Error('The owner of the limits left an answer out'))
        else resolve(taken)
      })
    } catch (error) {
      for (const { reject } of asked) reject(error as Error)
    }
  }

  const ask = (...one: CountAsk) =>
    new Promise<Taken>((resolve, reject) => {
      if (batch.push({ ask: one, resolve, reject }) === 1) setImmediate(() => void flush())
    })

  return (rule) => ({
    ...rule,
    take: (key) => ask(rule.name, 'take', key),
    look: (key) => ask(rule.name, 'look', key),
  })
}
