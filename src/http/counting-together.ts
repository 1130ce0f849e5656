import type { RateLimiterFactory, RateLimitResult } from './rate-limit.ts'

export interface TogetherOptions {
  /** Counts in this process while nobody else can be asked. It answers at once. */
  readonly alone: RateLimiterFactory
  /** A clock that never goes back, in milliseconds. */
  readonly monotonicMs: () => number
  /** Hears of each change between counting together and counting alone, and why. */
  readonly changed: (how: 'alone' | 'together', reason?: unknown) => void
}

/** After a failure everybody counts alone for so long before one request tries again. */
const retryMs = 1_000

/**
 * Counts with other processes while they can be asked, and alone while they cannot: a limit that is
 * too generous for a while harms less than a store that answers nobody.
 *
 * Requests that were counted together are counted here too, so that limits do not start again when the
 * others are away. Requests that were counted alone are not reported to them afterwards.
 *
 * @param together rejects, soon, when the others do not answer
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
