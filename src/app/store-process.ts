import type { Logger } from 'pino'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import type { RedisCounting } from '../adapters/redis/counting.ts'
import { isOutage } from '../adapters/storage/database.ts'
import { startService } from '../app.ts'
import type { Common, Config } from '../config.ts'
import { createLog, liveLog, sandboxLog } from '../logging/log.ts'
import { createDigest, type OperatorKeys } from '../secrets/secrets.ts'
import { sandboxOutside } from './sandbox-parts.ts'

/** Starts the store of this configuration. Nothing listens yet. @throws ConfigError, RecordTooOld */
export async function startStore(config: Config, sandbox: Sandbox | undefined) {
  const log = logOf(config)
  const outside = outsideOf(config, sandbox)
  const { counting, close } = await openCounting(outside, outside.secretsKeys, log)
  try {
    const parts = sandbox && { sandbox: routesOf(sandbox) }
    const service = await startService({ config: outside, log, counting, ...parts })
    const stop = async (drainMs: number) => {
      await service.stop(drainMs)
      close?.()
    }
    return { service, stop }
  } catch (error) {
    close?.()
    throw error
  }
}

function logOf(config: Config): Logger {
  const to = config.mode === 'live' ? liveLog() : sandboxLog(config.dataDir)
  const log = createLog(config.logLevel, to, isOutage)
  return config.mode === 'live' && config.isRehearsal ? log.child({ rehearsal: true }) : log
}

function outsideOf(config: Config, sandbox: Sandbox | undefined) {
  if (config.mode === 'live') return config
  if (sandbox === undefined) throw new Error(`No sandbox is running in ${config.dataDir}`)
  return sandboxOutside(config, sandbox)
}

function routesOf({ chain: { rpcUrl, chainId, usdc }, supplier, faucet }: Sandbox) {
  const send = (address: string) => faucet(address as `0x${string}`)
  return { rpcUrl, chainId, usdc, supplierUrl: supplier.url, faucet: send }
}

export async function openCounting(
  { redisUrl: url }: Pick<Common, 'redisUrl'>,
  keys: OperatorKeys,
  log: Logger,
): Promise<Partial<RedisCounting>> {
  if (url === undefined) return {}
  // A store without Redis saves the 7 MB of its client.
  const { openRedisCounting } = await import('../adapters/redis/counting.ts')
  const digest = createDigest(keys, 'rate-limit')
  const changed = (how: 'alone' | 'together', error?: unknown) => {
    if (how === 'together') log.warn('rate limits are counted together again')
    else log.error({ error }, 'rate limits are counted in this process alone')
  }
  return openRedisCounting({ url, digest: digest.of, changed })
}
