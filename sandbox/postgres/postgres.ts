import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, realpath, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import * as z from 'zod'
import { freePort } from '../port.ts'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'
import {
  type Launched,
  launch,
  logTail,
  plainEnvironment,
  untilEarlierEnded,
  waitUntil,
} from '../process.ts'
import { type Account, canReach, makeSystemDir, nativeDir, serverAccount } from './programs.ts'

export type PostgresOptions = {
  /** The store's data folder; it is created if it is missing. */
  dataDir: string
  onProgress?: (message: string) => void
  /** The maximum number of connections. Absent: PostgreSQL's own default. */
  connections?: number
  /** Where root puts files that the server's account cannot access in the data folder. */
  systemDir?: string
  /** The folder with the `bin` of another PostgreSQL than the one that npm installed. */
  installed?: string | undefined
  /** True trades durability for speed, and removes the data folder when the server ends; for tests only. */
  disposable?: boolean
}

export type Postgres = {
  databaseUrl: string
  pid: number
  /** Closes all connections and stops the server at a checkpoint; does nothing if it has ended. */
  stop(): Promise<void>
}

/**
 * What the data folder remembers about its database server. `clusterDir` is set only if the cluster could not be put
 * into the data folder itself.
 */
const settingsShape = z.object({
  clusterDir: z.string().optional(),
  password: z.string().min(20),
  port: z.int().min(1).max(65_535).optional(),
})

interface Cluster {
  readonly dataDir: string
  readonly clusterDir: string
  readonly native: string
  readonly account: Account | undefined
  readonly password: string
  readonly isDisposable: boolean
}

const run = promisify(execFile)
const user = 'kiosk402'
const processFile = 'postgres.process.json'
/** How long a started server may take to replay its log after a crash and to answer, in milliseconds. */
const recoveryMs = 60_000
/** Temporary reasons to fail: the port was taken meanwhile, or the processes of a killed server are still ending. */
const passingTrouble = /Address already in use|postmaster\.pid|shared memory block/

/**
 * Starts the embedded PostgreSQL of a data folder, and makes its cluster at the first start. The server listens on
 * 127.0.0.1 only, requires a random password from a file that only the owner can read, and syncs to disk at every
 * commit. It ends with this process at the latest.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { systemDir = '/var/lib/kiosk402', onProgress = () => {}, disposable = false } = options
  await mkdir(options.dataDir, { recursive: true })
  const dataDir = await realpath(options.dataDir)
  await untilEarlierEnded(join(dataDir, processFile))
  const file = join(dataDir, 'postgres.json')
  const settings = await settingsIn(file)
  const { password } = settings
  const account = await serverAccount(settings.clusterDir ?? join(dataDir, 'pg'))
  const native = await nativeDir(account, systemDir, options.installed)
  const clusterDir = settings.clusterDir ?? (await placeFor(dataDir, account, systemDir))
  const cluster = { dataDir, clusterDir, native, account, password, isDisposable: disposable }
  const kept = clusterDir === join(dataDir, 'pg') ? { password } : { password, clusterDir }
  if (!existsSync(join(clusterDir, 'PG_VERSION'))) {
    if (settings.clusterDir && settings.port) {
      // An empty database would look like the loss of every order.
      throw new Error(
        `The database of this data folder was kept in ${clusterDir} and is gone. ` +
          `Bring it back, or remove ${file} to begin with an empty one.`,
      )
    }
    onProgress(`Making the database in ${clusterDir}`)
    await writePrivateFile(file, JSON.stringify(kept))
    await initialise(cluster)
  }
  await requireReach(cluster)
  const { server, port } = await start(cluster, settings.port, [
    ...(options.connections ? [`max_connections=${options.connections}`] : []),
    ...(disposable ? ['fsync=off', 'full_page_writes=off'] : []),
  ])
  if (port !== settings.port) await writePrivateFile(file, JSON.stringify({ ...kept, port }))
  return { databaseUrl: urlOf(port, password), pid: server.pid, stop: server.stop }
}

async function settingsIn(file: string): Promise<z.infer<typeof settingsShape>> {
  const text = await readFileIfThere(file)
  if (text !== undefined) return settingsShape.parse(JSON.parse(text))
  return { password: randomBytes(24).toString('base64url') }
}

async function requireReach({ account, clusterDir }: Cluster): Promise<void> {
  if (!account || (await canReach(account, '-x', clusterDir))) return
  throw new Error(
    `The database in ${clusterDir} belongs to user ${account.uid}, who cannot reach it: a folder ` +
      'above it is closed to others. Open that folder (chmod o+x), move the data folder ' +
      '(DATA_DIR), or set DATABASE_URL.',
  )
}

/**
 * The place of a new cluster: the data folder, unless the account that runs the server cannot access it. That happens
 * to root, whose home is closed to all other accounts. We must not open somebody's home, and temporary folders are
 * emptied at boot, so the cluster is then kept below `systemDir`, under a name that the data folder remembers.
 */
async function placeFor(dataDir: string, account: Account | undefined, systemDir: string) {
  const inside = join(dataDir, 'pg')
  if (!account || existsSync(inside) || (await canReach(account, '-x', dataDir))) return inside
  await makeSystemDir(systemDir)
  return join(systemDir, `cluster-${randomUUID()}`)
}

/**
 * Makes a cluster with one superuser that signs in by password, with UTF-8 and collation by bytes. It works in a
 * temporary folder beside the final one and renames it at the end, so a start that is killed leaves nothing that looks
 * like a cluster.
 */
async function initialise(cluster: Cluster): Promise<void> {
  const { clusterDir, native, account, password, isDisposable, dataDir } = cluster
  const folder = `${clusterDir}.new`
  const passwordFile = `${clusterDir}.password`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  await writePrivateFile(passwordFile, `${password}\n`)
  const owned = [folder, passwordFile, ...(isDisposable ? [dataDir] : [])]
  if (account) for (const path of owned) await chown(path, account.uid, account.gid)
  const args = [
    ...[`--pgdata=${folder}`, `--username=${user}`, `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'],
    ...(isDisposable ? ['--no-sync'] : []),
  ]
  try {
    await run(join(native, 'bin', 'initdb'), args, { cwd: '/', env: plain(), ...(account ?? {}) })
  } finally {
    await rm(passwordFile, { force: true })
  }
  await rename(folder, clusterDir)
}

async function start(cluster: Cluster, lastPort: number | undefined, settings: readonly string[]) {
  const logFile = join(cluster.dataDir, 'postgres.log')
  for (let tries = 1; ; tries += 1) {
    const port = await freePort(lastPort)
    const server = await launchOn(port, cluster, settings, logFile)
    const isUp = await comesUp(server, port, cluster).catch(async (error) => {
      await server.stop()
      throw error
    })
    if (isUp) return { server, port }
    await server.stop()
    const end = `PostgreSQL did not start. The end of ${logFile}:\n${logTail(logFile)}`
    if (tries === 20 || !passingTrouble.test(end)) throw new Error(end)
    await delay(250)
  }
}

async function launchOn(
  port: number,
  { clusterDir, native, account, dataDir, isDisposable }: Cluster,
  settings: readonly string[],
  logFile: string,
): Promise<Launched> {
  const all = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'log_checkpoints=off',
    ...settings,
  ]
  return launch({
    command: join(native, 'bin', 'postgres'),
    args: ['-D', clusterDir, ...all.flatMap((setting) => ['-c', setting])],
    logFile,
    processFile: join(dataDir, processFile),
    env: { ...plain(), ...(await disownReusedPid(clusterDir)) },
    cwd: '/',
    account,
    // Closes all connections and makes a checkpoint.
    signal: 'INT',
    patience: 10,
    removes: isDisposable ? dataDir : undefined,
  })
}

async function comesUp(
  server: Launched,
  port: number,
  { clusterDir, password }: Cluster,
): Promise<boolean> {
  const isReady = async () => {
    const lines = await lockLines(clusterDir)
    return lines[0] === String(server.pid) && lines[7]?.trim() === 'ready'
  }
  await waitUntil(async () => server.hasEnded() || (await isReady()), recoveryMs, 5)
  if (server.hasEnded()) return false
  const client = new pg.Client({ connectionString: urlOf(port, password) })
  try {
    await client.connect()
    return true
  } catch (cause) {
    const isRefused = cause instanceof pg.DatabaseError && cause.code === '28P01'
    if (!isRefused) throw cause
    throw new Error(
      'The database does not take the password that postgres.json of the data folder has. ' +
        'Bring back the file that was made with this database, or remove both.',
      { cause },
    )
  } finally {
    await client.end()
  }
}

/** The lines of the cluster's lock file: the first is the pid, the eighth the state ("ready", padded). */
async function lockLines(clusterDir: string): Promise<readonly string[]> {
  return (await readFileIfThere(join(clusterDir, 'postmaster.pid')))?.split('\n') ?? []
}

/**
 * PostgreSQL ignores a pid in the lock file that belongs to its own launcher, which names itself in
 * `PG_GRANDPARENT_PID`. Naming a pid that now belongs to another program makes the server treat the file as stale. That
 * happens in containers, where the same few pids are reused after each restart.
 */
async function disownReusedPid(clusterDir: string): Promise<Record<string, string>> {
  const [pid = ''] = await lockLines(clusterDir)
  const program = pid === '' ? undefined : await readFileIfThere(`/proc/${pid}/comm`)
  return program && !program.startsWith('postgres') ? { PG_GRANDPARENT_PID: pid } : {}
}

/**
 * The environment of PostgreSQL's programs: nothing of ours, because variables such as PGDATA and PGPORT would change
 * what they do, and messages in English, because the launcher reads some of them.
 */
function plain(): NodeJS.ProcessEnv {
  return { PATH: plainEnvironment()['PATH'], LC_ALL: 'C', TZ: 'UTC' }
}

function urlOf(port: number, password: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/postgres`
}
