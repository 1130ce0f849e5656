import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { ClientOfflineError, createClient } from '@redis/client'
import type { LimitRule, RateLimiterFactory, RateLimitResult } from '../../http/rate-limit.ts'
import { withReasons } from '../../lib/connection-error.ts'
import { within } from '../../lib/within.ts'
import { type LoggedClient, slidingLog } from './sliding-log.ts'

/** A request waits no longer than this for its count. */
const maxAnswerMs = 250
/** A start waits so long for the connection, so that already the first requests are counted there. */
const connectWaitMs = 2_000
const maxReconnectMs = 2_000
/** Counts on their way to Redis; beyond that a count is refused at once. */
const maxWaiting = 10_000
/**
 * How many clients of a limit have a log of their own at a time. A flood of more addresses shares so
 * many further logs, so that it can fill neither Redis nor the whole limit of everybody else.
 */
const ownLogs = 20_000
const sharedLogs = 1_024
/** An idle connection is tried so often, and one on which nothing comes back is made anew. */
const pingEveryMs = 3_000
const maxSilentMs = 10_000

export interface RedisCounting {
  readonly counting: RateLimiterFactory
  close(): void
}

export interface RedisOptions {
  readonly url: string
  /** Hides who a client is: Redis may write what it holds to a disk. */
  readonly digest: (client: string) => string
  /** Clients of a limit with a log of their own; the number that the docs name when left out. */
  readonly maxClients?: number
  /** How long a count may take. */
  readonly maxAnswerMs?: number
}

/**
 * Counts in Redis, with every process of every machine that uses it. Goes on connecting for as long
 * as it takes; meanwhile, and when an answer takes too long, a count is refused with an error.
 */
export async function openRedisCounting(options: RedisOptions): Promise<RedisCounting> {
  const { url, digest, maxClients = ownLogs, maxAnswerMs: withinMs = maxAnswerMs } = options
  const late = `Redis did not answer within ${withinMs} ms`
  const client = createClient({
    url,
    scripts: { slidingLog },
    disableOfflineQueue: true,
    // Its limit of time for a command ends when the command is sent, so it is not worth its timer.
    commandOptions: { timeout: 0 },
    commandsQueueMaxLength: maxWaiting,
    pingInterval: pingEveryMs,
    socket: {
      connectTimeout: connectWaitMs,
      socketTimeout: maxSilentMs,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, maxReconnectMs),
    },
  })
  // A broken connection fails the counts on it, and the next ones until it is back: told there.
  let broken: Error | undefined
  client.on('error', (error: Error) => {
    broken = withReasons(error)
  })
  const connected = client.connect().catch(() => undefined)
  await Promise.race([connected, delay(connectWaitMs, undefined, { ref: false })])

  async function count(rule: LimitRule, key: string, takes: boolean): Promise<RateLimitResult> {
    const { name, limit, windowSeconds } = rule
    const windowMs = windowSeconds * 1_000
    const logRule = { limit, windowMs, takes, maxClients }
    const sent = client.slidingLog(logsOf(name, digest(key)), logRule).catch((error: unknown) => {
      throw error instanceof ClientOfflineError ? (broken ?? error) : error
    })
    const [allowed, counted = 0, leftMicros = 0] = await within(withinMs, sent, late)
    return {
      allowed: allowed === 1,
      remaining: limit - counted,
      resetSeconds: Math.max(1, Math.ceil(leftMicros / 1_000_000)),
    }
  }

  return {
    counting: (rule) => ({
      ...rule,
      take: (key) => count(rule, key, true),
      peek: (key) => count(rule, key, false),
    }),
    close() {
      if (client.isOpen) client.destroy()
    },
  }
}

/** Where a client is counted, by a digest of it. */
function logsOf(limit: string, client: string): LoggedClient {
  const ends = `kiosk402:limit:${limit}`
  const shared = `${ends}:shared:${crc32(client) % sharedLogs}`
  return { own: `${ends}:${client}`, shared, ends, client }
}
