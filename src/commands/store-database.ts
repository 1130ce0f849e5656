import type { Pool } from 'pg'
import { openDatabase } from '../adapters/storage/database.ts'
import { type Config, ConfigError } from '../config.ts'
import { loadSandbox } from '../sandbox-parts.ts'

/**
 * The database of the store that this environment starts; the embedded one while its sandbox runs.
 *
 * @param command what the server's list of connections shows
 * @throws ConfigError when it is embedded and does not run
 */
export async function openDatabaseFor(config: Config, command: string): Promise<Pool> {
  return openDatabase(await addressOf(config), {
    applicationName: `kiosk402-${command}`,
    poolSize: 3,
    onError: () => undefined,
  })
}

async function addressOf(config: Config): Promise<string> {
  if (config.mode === 'live') return config.databaseUrl
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const { runningSandbox } = await loadSandbox()
  const running = await runningSandbox(config.dataDir)
  if (running) return running.databaseUrl
  throw new ConfigError([
    `DATA_DIR ${config.dataDir} has no running store; start it first, or name another folder`,
  ])
}
