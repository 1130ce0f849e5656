import type { Logger } from 'pino'
import { openRedisCounting } from './adapters/redis/counting.ts'
import type { Common } from './config.ts'
import { countingTogether } from './http/counting-together.ts'
import { countingHere, type RateLimiterFactory } from './http/rate-limit.ts'
import type { OperatorKeys } from './secrets/keyring.ts'
import { createDigest } from './secrets/tokens.ts'

/** Where a process of the store counts requests, until it is closed. */
export interface OpenCounting {
  readonly counting: RateLimiterFactory
  close(): void
}

/**
 * Counts in Redis where there is one; else with the other workers of this machine, where there are
 * any; else in this process. While those who count together cannot be asked, it counts alone.
 *
 * @param limitersAtPrimary how a worker has its primary count
 */
export async function openCounting(
  { redisUrl }: Pick<Common, 'redisUrl'>,
  keys: OperatorKeys,
  log: Logger,
  limitersAtPrimary?: RateLimiterFactory,
): Promise<OpenCounting> {
  const monotonicMs = () => performance.now()
  const alone = countingHere(monotonicMs)
  const or = (together: RateLimiterFactory) =>
    countingTogether(together, { alone, monotonicMs, changed: reportTo(log) })
  if (redisUrl !== undefined) {
    const digest = createDigest(keys, 'rate-limit')
    const redis = await openRedisCounting({ url: redisUrl, digest: digest.of })
    return { counting: or(redis.counting), close: redis.close }
  }
  return {
    counting: limitersAtPrimary === undefined ? alone : or(limitersAtPrimary),
    close: () => undefined,
  }
}

function reportTo(log: Logger) {
  return (how: 'alone' | 'together', error?: unknown) => {
    if (how === 'together') log.warn('rate limits are counted together again')
    else log.error({ error }, 'rate limits are counted in this process alone')
  }
}
