import type { Pool } from 'pg'
import { openDatabase } from '../adapters/storage/database.ts'
import type { Config } from '../config.ts'

/**
 * The database of the store that this environment starts; the embedded one while its sandbox runs.
 *
 * @throws when it is embedded and does not run
 */
export async function openDatabaseFor(config: Config): Promise<Pool> {
  return openDatabase(await addressOf(config), {
    applicationName: 'kiosk402-refunds',
    poolSize: 3,
    onError: () => undefined,
  })
}

async function addressOf(config: Config): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const dataDir = 'dataDir' in config ? config.dataDir : ''
  const { runningDatabaseUrl } = await import('../../sandbox/postgres/running.ts')
  const url = await runningDatabaseUrl(dataDir)
  if (url === undefined) {
    throw new Error(
      `The database in ${dataDir} does not run. Start the store first, or set DATA_DIR or DATABASE_URL.`,
    )
  }
  return url
}
