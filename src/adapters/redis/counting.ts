import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { ClientOfflineError, createClient } from '@redis/client'
import type { LimitRule, RateLimiterFactory, RateLimitResult } from '../../http/rate-limit.ts'
import { withReasons } from '../../lib/connection-error.ts'
import { within } from '../../lib/within.ts'
import { type LoggedClient, slidingLog } from './sliding-log.ts'

/** The longest that a request waits for its count. */
const maxAnswerMs = 250
/** A start waits this long for the connection, so that even the first requests are counted in Redis. */
const connectWaitMs = 2_000
const maxReconnectMs = 2_000
/** The most counts on their way to Redis. Further ones fail at once. */
const maxWaiting = 10_000
/**
 * The most clients of a limit that have a log of their own at a time. Further clients share `sharedLogs`
 * logs, so that a flood of addresses can neither fill Redis nor use up the limits of all other clients.
 */
const ownLogs = 20_000
const sharedLogs = 1_024
/** An idle connection is pinged this often. One that stays silent for `maxSilentMs` is replaced. */
const pingEveryMs = 3_000
const maxSilentMs = 10_000

export interface RedisCounting {
  readonly counting: RateLimiterFactory
  close(): void
}

export interface RedisOptions {
  readonly url: string
  /** Hides the client, because Redis may write its data to disk. */
  readonly digest: (client: string) => string
  /** The most clients of a limit with a log of their own. Absent: 20,000. */
  readonly maxClients?: number
  /** The longest that a count may take. Absent: 250 ms. */
  readonly maxAnswerMs?: number
}

/**
 * Counts in Redis, together with all processes on all machines that use it. Reconnects for as long as it
 * takes. A count rejects while there is no connection, and if the answer takes too long.
 */
export async function openRedisCounting(options: RedisOptions): Promise<RedisCounting> {
  const { url, digest, maxClients = ownLogs, maxAnswerMs: withinMs = maxAnswerMs } = options
  const late = `Redis did not answer within ${withinMs} ms`
  const client = createClient({
    url,
    scripts: { slidingLog },
    disableOfflineQueue: true,
    // The client's command timeout covers only the time until the command is sent, so a timer is not worth it.
    commandOptions: { timeout: 0 },
    commandsQueueMaxLength: maxWaiting,
    pingInterval: pingEveryMs,
    socket: {
      connectTimeout: connectWaitMs,
      socketTimeout: maxSilentMs,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, maxReconnectMs),
    },
  })
  // A broken connection fails its counts, and further ones until it is back. They report this error.
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

/** The keys at which a client is counted. `client` is its digest. */
function logsOf(limit: string, client: string): LoggedClient {
  const ends = `kiosk402:limit:${limit}`
  const shared = `${ends}:shared:${crc32(client) % sharedLogs}`
  return { own: `${ends}:${client}`, shared, ends, client }
}
