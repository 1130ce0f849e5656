import {
  type LimitRule,
  type RateLimiterFactory,
  type RateLimitResult,
  slidingWindow,
} from '../http/rate-limit.ts'
import type { CountRequest, IpcPeer } from './ipc.ts'

/** The primary answers within about a millisecond, so a client request waits no longer than this. */
const answerTimeoutMs = 500

/**
 * Counts the requests of all workers in the primary, with one clock. Limits are exact regardless of
 * which workers serve a client.
 */
export function createRequestCounter(rules: readonly LimitRule[], monotonicMs: () => number) {
  const limiters = new Map(
    rules.map((rule) => [rule.name, slidingWindow({ ...rule, monotonicMs })] as const),
  )
  return (requests: readonly CountRequest[]): Promise<RateLimitResult[]> =>
    Promise.all(
      requests.map(([name, action, key]) => {
        const limiter = limiters.get(name)
        if (limiter === undefined) throw new Error(`Unknown rate limit "${name}"`)
        return limiter[action](key)
      }),
    )
}

interface Pending {
  readonly request: CountRequest
  readonly resolve: (result: RateLimitResult) => void
  readonly reject: (error: Error) => void
}

/**
 * Rate limiters of a worker that count in the primary. All counts of one turn of the event loop are
 * sent as one message, so the cost of each falls with the load.
 */
export function limitersAtPrimary(ipc: Pick<IpcPeer, 'request'>): RateLimiterFactory {
  let batch: Pending[] = []

  async function flush(): Promise<void> {
    const sent = batch
    batch = []
    try {
      const requests = sent.map(({ request }) => request)
      const results = await ipc.request('count', requests, answerTimeoutMs)
      sent.forEach(({ resolve, reject }, at) => {
        const result = results[at]
        if (result === undefined)
          reject(new Error('The primary returned too few rate limit results'))
        else resolve(result)
      })
    } catch (error) {
      for (const { reject } of sent) reject(error as Error)
    }
  }

  const count = (...request: CountRequest) =>
    new Promise<RateLimitResult>((resolve, reject) => {
      if (batch.push({ request, resolve, reject }) === 1) setImmediate(() => void flush())
    })

  return (rule) => ({
    ...rule,
    take: (key) => count(rule.name, 'take', key),
    peek: (key) => count(rule.name, 'peek', key),
  })
}
