import type { Logger } from 'pino'
import { openRedisCounting } from '../adapters/redis/counting.ts'
import { isOutage } from '../adapters/storage/database.ts'
import { type Service, type ServiceOptions, startService } from '../app.ts'
import type { Common, Config, Outside } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { countingTogether } from '../http/counting-together.ts'
import { countingHere, type RateLimiterFactory } from '../http/rate-limit.ts'
import { createLog, liveLog, sandboxLog } from '../logging/log.ts'
import { agreedKeys } from '../nodes/nodes.ts'
import type { OperatorKeys } from '../secrets/keyring.ts'
import { createDigest } from '../secrets/tokens.ts'
import type { Stoppable } from './lifecycle.ts'
import { loadSandbox, type SandboxParts, sandboxOptions, sandboxOutside } from './sandbox-parts.ts'
import { progress } from './terminal.ts'

/** What the program that starts a store passes to it. */
export interface Surroundings extends Pick<ServiceOptions, 'numbers'> {
  /** Only in the sandbox: its running parts, and the function that gives test money. */
  readonly sandbox?:
    | { readonly parts: SandboxParts; readonly faucet: (address: string) => Promise<string> }
    | undefined
  /** Which of several processes this is. */
  readonly worker?: number
  /** How a worker has its primary count requests. */
  readonly limitersAtPrimary?: RateLimiterFactory
}

/** A store that runs in this process. */
export interface Running extends Stoppable {
  readonly service: Service
}

/**
 * Starts the store of this configuration in this process. Nothing listens yet.
 *
 * @throws ConfigError, KeyMissing, RecordTooOld
 */
export async function startStore(config: Config, around: Surroundings): Promise<Running> {
  const { sandbox, numbers, worker, limitersAtPrimary } = around
  const log = logOf(config, worker)
  const outside = outsideOf(config, sandbox?.parts)
  const keys = agreedKeys(outside.secretsKeys)
  const { counting, close } = await openCounting(outside, keys, log, limitersAtPrimary)
  try {
    const service = await startService({
      config: outside,
      log,
      keys,
      counting,
      ...(numbers && { numbers }),
      ...(sandbox && { sandbox: listenerOf(sandbox) }),
    })
    const stop = async (drainMs: number) => {
      await service.stop(drainMs)
      close()
    }
    return { service, stop }
  } catch (error) {
    close()
    throw error
  }
}

/** Starts the parts of a sandbox. In live mode there is nothing to start. */
export async function startParts(config: Config) {
  if (config.mode === 'live') return undefined
  const { startSandbox } = await loadSandbox()
  const sandbox = await startSandbox({
    ...sandboxOptions(config),
    onProgress: progress,
    onProblem: (error) => console.error(`The sandbox chain has stopped: ${error.message}`),
  })
  progress('Reading the catalog')
  return sandbox
}

interface Listener {
  listen(at: { readonly host: string; readonly port: number }): Promise<unknown>
}

/** Listens where the configuration says. @throws ConfigError when the port is taken */
export async function listen(listener: Listener, { host, port }: Config): Promise<void> {
  try {
    await listener.listen({ host, port })
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
    throw taken ? new ConfigError([`PORT ${port} is taken on ${host}; set another one`]) : error
  }
}

/** The log of one process. Each line names the worker, and is marked in a rehearsal. */
export function logOf(config: Config, worker?: number): Logger {
  const to = config.mode === 'live' ? liveLog() : sandboxLog(config.dataDir)
  const log = createLog(config.logLevel, to, isOutage)
  const isRehearsal = config.mode === 'live' && config.isRehearsal
  return log.child({
    ...(isRehearsal && { rehearsal: true }),
    ...(worker !== undefined && { worker }),
  })
}

function outsideOf(
  config: Config,
  parts: SandboxParts | undefined,
): Common & Outside & { readonly mode: Config['mode'] } {
  if (config.mode === 'live') return config
  if (parts === undefined) throw new Error(`No sandbox is running in ${config.dataDir}`)
  return sandboxOutside(config, parts)
}

function listenerOf({ parts, faucet }: NonNullable<Surroundings['sandbox']>) {
  const { rpcUrl, chainId, usdc } = parts.chain
  return { rpcUrl, chainId, usdc, supplierUrl: parts.supplier.url, faucet }
}

/** What counts the requests of a process, until it is closed. */
export interface OpenCounting {
  readonly counting: RateLimiterFactory
  close(): void
}

/**
 * Counts in Redis if it is configured, else in the primary if there are several workers, else in this
 * process. While Redis or the primary does not answer, this process counts alone.
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
