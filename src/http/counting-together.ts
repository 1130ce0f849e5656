import type { RateLimiterFactory, RateLimitResult } from './rate-limit.ts'

export interface TogetherOptions {
  /** Counts in this process while the shared counter is unreachable. It answers at once. */
  readonly alone: RateLimiterFactory
  /** A clock that never goes back, in milliseconds. */
  readonly monotonicMs: () => number
  /** Called at each change between shared and local counting, with the reason. */
  readonly changed: (how: 'alone' | 'together', reason?: unknown) => void
}

/** After a failure, requests are counted locally for this long before one of them tries the shared counter again. */
const retryMs = 1_000

/**
 * Counts in a counter shared with other processes while it is reachable, and locally while it is not: limits that
 * are too generous for a while do less harm than a store that answers nobody.
 *
 * Requests counted in the shared counter are counted locally too, so that limits do not start at zero when it
 * becomes unreachable. Requests counted locally are not added to the shared counter afterwards.
 *
 * @param together rejects soon if the shared counter does not answer
 */
export function countingTogether(
  together: RateLimiterFactory,
  options: TogetherOptions,
): RateLimiterFactory {
  const { alone, monotonicMs, changed } = options
  let isAlone = false
  let triesAgainAt = 0

  async function asked(
    ask: () => RateLimitResult | Promise<RateLimitResult>,
    askHere: () => RateLimitResult | Promise<RateLimitResult>,
  ): Promise<RateLimitResult> {
    if (isAlone && monotonicMs() < triesAgainAt) return askHere()
    triesAgainAt = monotonicMs() + retryMs
    try {
      const taken = await ask()
      if (isAlone) changed('together')
      isAlone = false
      return taken
    } catch (error) {
      if (!isAlone) changed('alone', error)
      isAlone = true
      triesAgainAt = monotonicMs() + retryMs
      return askHere()
    }
  }

  return (rule) => {
    const there = together(rule)
    const here = alone(rule)
    return {
      ...rule,
      async take(key) {
        const noted = async () => {
          const taken = await there.take(key)
          if (taken.allowed) await here.take(key)
          return taken
        }
        return asked(noted, () => here.take(key))
      },
      peek: async (key) =>
        asked(
          () => there.peek(key),
          () => here.peek(key),
        ),
    }
  }
}
