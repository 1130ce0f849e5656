import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { serverAccount } from './account.ts'
import { initialiseCluster } from './initialise.ts'
import { nativeDir } from './native.ts'
import { isCluster, placeCluster, requireReach } from './place.ts'
import { adoptOrStart, databaseUrlOf, stopServer } from './server.ts'
import type { Settings } from './settings.ts'
import { loadSettings, saveSettings, settingsFile } from './settings.ts'

export type PostgresOptions = {
  /** The store's data folder; it is created if it is missing. */
  dataDir: string
  /** Called with a short sentence about each step that takes time. */
  onProgress?: (message: string) => void
  /** The maximum number of connections. Absent: 100. */
  connections?: number
  /** Where root puts files that the server's account cannot access in the data folder. */
  systemDir?: string
}

export type TestPostgresOptions = PostgresOptions & {
  /** True trades durability for speed and lets Ctrl-C reach the server; for tests only. */
  disposable: boolean
  /** The folder with the `bin` of another PostgreSQL than the one that npm installed. */
  installed?: string | undefined
}

export type Postgres = {
  databaseUrl: string
  pid: number
  /** Whether an earlier store left the server running. */
  adopted: boolean
  /** Stops the server, even an adopted one; does nothing if it has ended. */
  stop(): Promise<void>
}

/**
 * Starts the embedded PostgreSQL of a data folder, and makes its cluster at the first start. The server listens on
 * 127.0.0.1 only, requires a random password from a file that only the owner can read, and syncs to disk at every
 * commit. It runs in its own process group, so that Ctrl-C does not end the database before the store has closed. A
 * server that a killed store left running is adopted.
 */
export function startPostgres(options: PostgresOptions): Promise<Postgres> {
  return startCluster({ ...options, disposable: false })
}

export async function startCluster(options: TestPostgresOptions): Promise<Postgres> {
  const { systemDir = '/var/lib/kiosk402', onProgress = () => {} } = options
  await mkdir(options.dataDir, { recursive: true })
  const dataDir = await realpath(options.dataDir)
  const settings = await loadSettings(dataDir)
  const account = await serverAccount(settings.clusterDir ?? join(dataDir, 'pg'))
  const native = await nativeDir(account, systemDir, options.installed)
  const home = await findHome(dataDir, settings, () => placeCluster(dataDir, account, systemDir))
  if (home.isNew) {
    onProgress(`Making the database in ${home.clusterDir}`)
    await saveSettings(dataDir, home.settings)
    const sync = !options.disposable
    await initialiseCluster({ ...home, password: settings.password, native, account, sync })
  }
  await requireReach(home.clusterDir, account)
  const server = await adoptOrStart({
    clusterDir: home.clusterDir,
    native,
    account,
    password: settings.password,
    port: settings.port,
    logFile: join(dataDir, 'postgres.log'),
    settings: [
      `max_connections=${options.connections ?? 100}`,
      ...(options.disposable ? ['fsync=off', 'full_page_writes=off'] : []),
    ],
    detached: !options.disposable,
  })
  if (server.port !== settings.port) {
    await saveSettings(dataDir, { ...home.settings, port: server.port })
  }
  return {
    databaseUrl: databaseUrlOf(server.port, settings.password),
    pid: server.process.pid,
    adopted: server.adopted,
    stop: () => stopServer(server.process),
  }
}

type Home = { clusterDir: string; settings: Settings; isNew: boolean }

/** The existing cluster of the data folder, or the place and the settings of a new one. */
async function findHome(
  dataDir: string,
  settings: Settings,
  place: () => Promise<string>,
): Promise<Home> {
  const inside = join(dataDir, 'pg')
  const remembered = settings.clusterDir ?? inside
  if (await isCluster(remembered)) return { clusterDir: remembered, settings, isNew: false }
  if (settings.clusterDir && settings.port) throw lostCluster(settings.clusterDir, dataDir)
  const clusterDir = settings.clusterDir ?? (await place())
  const isOutside = clusterDir !== inside
  return { clusterDir, settings: isOutside ? { ...settings, clusterDir } : settings, isNew: true }
}

/** Thrown instead of silently starting with an empty database, which would look like the loss of every order. */
function lostCluster(clusterDir: string, dataDir: string): Error {
  return new Error(
    `The database of this data folder was kept in ${clusterDir} and is gone. ` +
      `Bring it back, or remove ${settingsFile(dataDir)} to begin with an empty one.`,
  )
}
