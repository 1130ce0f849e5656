import { setTimeout as delay } from 'node:timers/promises'
import { ClientOfflineError, createClient } from '@redis/client'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import type { CounterFactory } from '../../http/gate.ts'
import { withReasons } from '../../lib/errors.ts'
import { within } from '../../lib/scheduling.ts'

const maxAnswerMs = 250
/** A start waits this long for the connection, so that even the first requests are counted in Redis. */
const connectWaitMs = 2_000
const maxReconnectMs = 2_000
/** After a failure, this process counts alone for this long before a request tries Redis again. */
const retryMs = 1_000
/** The most counts on their way to Redis. Further ones fail at once. */
const maxWaiting = 10_000
/** An idle connection is pinged this often. One that stays silent for `maxSilentMs` is replaced. */
const pingEveryMs = 3_000
const maxSilentMs = 10_000

export interface RedisCounting {
  readonly counting: CounterFactory
  close(): void
}

export interface RedisOptions {
  readonly url: string
  /** Hides the client, because Redis may write its data to disk. */
  readonly digest: (client: string) => string
  /** Called at each change between counting in Redis and in this process alone, with the reason. */
  readonly changed: (how: 'alone' | 'together', reason?: unknown) => void
  readonly maxAnswerMs?: number
}

export async function openRedisCounting(options: RedisOptions): Promise<RedisCounting> {
  const client = createClient({
    url: options.url,
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
  const runCommand = createCommandRunner(options, (error) =>
    error instanceof ClientOfflineError ? (broken ?? error) : error,
  )
  const storeClient = {
    eval: (script: string, args: Parameters<typeof client.eval>[1]) =>
      runCommand(() => client.eval(script, args)),
    multi: () => {
      const commands = client.multi()
      const exec = commands.exec.bind(commands)
      return Object.assign(commands, { exec: () => runCommand(() => exec()) })
    },
  }
  return {
    counting({ name, limit, windowSeconds }) {
      const rule = { keyPrefix: `kiosk402:limit:${name}`, points: limit, duration: windowSeconds }
      const insuranceLimiter = new RateLimiterMemory(rule)
      const shared = { ...rule, storeClient, useRedisPackage: true, insuranceLimiter }
      return new HiddenClients(shared, options.digest)
    },
    close() {
      if (client.isOpen) client.destroy()
    },
  }
}

class HiddenClients extends RateLimiterRedis {
  readonly #digest: (client: string) => string

  constructor(
    options: ConstructorParameters<typeof RateLimiterRedis>[0],
    digest: (client: string) => string,
  ) {
    super(options)
    this.#digest = digest
  }

  override getKey(client: string | number): string {
    return super.getKey(this.#digest(String(client)))
  }
}

function createCommandRunner(
  { changed, maxAnswerMs: withinMs = maxAnswerMs }: RedisOptions,
  reasonOf: (error: unknown) => unknown,
) {
  let failure: unknown
  let triesAgainAt = 0
  return async <T>(command: () => Promise<T>): Promise<T> => {
    if (failure !== undefined && performance.now() < triesAgainAt) throw failure
    triesAgainAt = performance.now() + retryMs
    try {
      const late = `Redis did not answer within ${withinMs} ms`
      const answer = await within(withinMs, command(), late)
      if (failure !== undefined) changed('together')
      failure = undefined
      return answer
    } catch (error) {
      const reason = reasonOf(error)
      if (failure === undefined) changed('alone', reason)
      failure = reason
      triesAgainAt = performance.now() + retryMs
      throw reason
    }
  }
}
