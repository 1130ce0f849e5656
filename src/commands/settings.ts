import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import type { Pool } from 'pg'
import { openDatabase, rehearsed } from '../adapters/storage/database.ts'
import { requireMigrated } from '../adapters/storage/migrate.ts'
import { identityOf } from '../adapters/storage/storage.ts'
import { requireOwn } from '../adapters/storage/store.ts'
import { loadSandbox, sandboxOutside } from '../app/sandbox-parts.ts'
import { type Config, readConfig, type StoreConfig } from '../config.ts'
import { ConfigError, secretVariables } from '../environment/environment.ts'
import { ownEnvironment, warnIfOpen, withSecretFiles } from '../environment/secret-files.ts'
import { messageOf } from '../lib/errors.ts'
import type { Operator } from '../operator/operator.ts'
import type { Place } from './act.ts'

export interface Settings {
  readonly config: Config
  /** Where they come from, for people. */
  readonly source: string
}

type Environment = Readonly<Record<string, string | undefined>>

const installed = '/etc/kiosk402/store.env'

/** Variables by which an environment names a store. */
const naming = ['MODE', 'DATA_DIR', 'DATABASE_URL', 'DATABASE_URL_FILE']

/**
 * The settings of `file`; without one, those of the environment if it names a store, as that of a service does; otherwise
 * those of the installed service, or the sandbox in ./data.
 *
 * @throws ConfigError also for files that other accounts can read
 */
export function findSettings(file: string | undefined, service = installed): Settings {
  const isNamed = naming.some((name) => process.env[name])
  const used = file ?? (!isNamed && existsSync(service) ? service : undefined)
  if (used !== undefined) return { config: readConfig(environmentIn(used)), source: used }
  return { config: readConfig(ownEnvironment(console.warn)), source: 'the environment' }
}

/** A file as systemd reads it, and each secret from the file of its name in the folder `secrets` beside it. */
function environmentIn(file: string): Environment {
  try {
    const variables = parseEnv(readFileSync(file, 'utf8'))
    const open: string[] = []
    warnIfOpen(file, (line) => open.push(line))
    const environment = withSecretFiles({ ...secretsBeside(file), ...variables }, (line) =>
      open.push(line),
    )
    if (open.length > 0) throw new ConfigError(open)
    return environment
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError([
      `${messageOf(error)}; run the command as the account that may read ${file}, such as root: sudo`,
    ])
  }
}

function secretsBeside(file: string): Environment {
  const folder = join(dirname(file), 'secrets')
  const files = existsSync(folder) ? readdirSync(folder) : []
  const secrets = files.filter((name) => secretVariables.includes(name))
  return Object.fromEntries(secrets.map((name) => [`${name}_FILE`, join(folder, name)]))
}

/** @param account a container may run as a user id without an account */
export function personOf(
  named: string | undefined,
  account: () => { readonly username: string } = userInfo,
): string {
  const person = named ?? process.env['SUDO_USER']
  if (person) return person
  try {
    return account().username
  } catch {
    return `uid ${process.getuid?.()}`
  }
}

interface Wanted {
  readonly act: string
  readonly by: string
  readonly isDryRun: boolean
  readonly tellStore: (store: Place) => void
  readonly setUp: ((config: StoreConfig) => Promise<void>) | undefined
}

/** No buyer waits for a command, and it may read all orders. */
const statementTimeoutMs = 600_000

export async function asOperator<T>(
  ownConfig: Config,
  { act, by, isDryRun, tellStore, setUp }: Wanted,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const config = ownConfig.mode === 'live' ? ownConfig : await runningIn(ownConfig)
  tellStore(config)
  await setUp?.(config)
  const pool = openDatabase(config.databaseUrl, {
    applicationName: `kiosk402-${act}`,
    poolSize: 3,
    statementTimeoutMs,
    onError: () => undefined,
  })
  const run = (database: Pool) => work({ config, database, by, now: () => new Date() })
  try {
    await requireOwn(pool, identityOf(config))
    await requireMigrated(pool)
    return await (isDryRun ? rehearsed(pool, run) : run(pool))
  } finally {
    await pool.end()
  }
}

/** Which store it is, without a secret. */
export function describe({ site, network, ...store }: Place, source: string): string {
  const { pathname, hostname, port, searchParams } = new URL(store.databaseUrl)
  const host = searchParams.get('host') ?? decodeURIComponent(hostname)
  const mode = store.isRehearsal ? 'rehearsal' : store.mode
  const database = `database ${decodeURIComponent(pathname.slice(1))} at ${host || 'this machine'}`
  return `${site.name}: ${mode} on ${network.name}, ${database}${port && `:${port}`}, settings of ${source}`
}

async function runningIn(config: Parameters<typeof sandboxOutside>[0]): Promise<StoreConfig> {
  const { runningSandbox } = await loadSandbox()
  const running = await runningSandbox(config.dataDir)
  if (running) {
    const databaseUrl = config.databaseUrl ?? running.databaseUrl
    return sandboxOutside(config, { ...running, databaseUrl })
  }
  throw new ConfigError([
    `DATA_DIR ${config.dataDir} has no running store; start it first, or name another folder`,
  ])
}
