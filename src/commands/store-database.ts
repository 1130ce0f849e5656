import type { Pool } from 'pg'
import { openDatabase } from '../adapters/storage/database.ts'
import { loadSandbox, type SandboxParts } from '../app/sandbox-parts.ts'
import type { Config, SandboxConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'

/**
 * Opens the database of the store that this environment starts, which in the sandbox may be the embedded one.
 *
 * @param command is shown in the server's list of connections
 * @throws ConfigError when the database is embedded and not running
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
  return (await runningParts(config)).databaseUrl
}

async function runningParts({ dataDir }: SandboxConfig): Promise<SandboxParts> {
  const { runningSandbox } = await loadSandbox()
  const running = await runningSandbox(dataDir)
  if (running) return running
  throw new ConfigError([
    `DATA_DIR ${dataDir} has no running store; start it first, or name another folder`,
  ])
}
