import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { freePort } from '../port.ts'
import type { ProcessId } from '../process.ts'
import { identify, isAlive, launch, logTail, terminate, waitUntil } from '../process.ts'
import type { Account } from './account.ts'
import { serverEnvironment } from './environment.ts'
import { DATABASE_USER } from './initialise.ts'
import { isSomethingElse, readPostmaster, runningPostmaster } from './postmaster.ts'

export type ClusterToRun = {
  clusterDir: string
  native: string
  account: Account | undefined
  password: string
  logFile: string
  /** The port of the last start; another is chosen if it is occupied now. */
  port: number | undefined
  /** Further `name=value` settings of the server. */
  settings: readonly string[]
  detached: boolean
}

export type RunningServer = { process: ProcessId; port: number; adopted: boolean }

/** How long another server of this cluster may take to answer or to end, in milliseconds. */
const OTHER_SERVER_MS = 5_000
/** How long a started server may take to replay its log after a crash and to answer, in milliseconds. */
const RECOVERY_MS = 60_000
/** How long one connection may take, in milliseconds. */
const CONNECTION_MS = 10_000
/** Temporary reasons to fail: the port was taken meanwhile, or the processes of a killed server are still ending. */
const PASSING_TROUBLE = /Address already in use|postmaster\.pid|shared memory block/

/**
 * The running server of a cluster: the one that an earlier store left running, if it accepts our password, else a new
 * one. A server that is starting or stopping gets 5 s to finish. A lock file whose process is gone is left to
 * PostgreSQL, which replaces it.
 */
export async function adoptOrStart(cluster: ClusterToRun): Promise<RunningServer> {
  const deadline = performance.now() + OTHER_SERVER_MS
  for (;;) {
    const attempt = (await adopt(cluster)) ?? (await start(cluster))
    if (typeof attempt !== 'string') return attempt
    if (performance.now() >= deadline) throw new Error(attempt)
    await delay(50)
  }
}

/** The URL of the server's default database, with user and password. */
export function databaseUrlOf(port: number, password: string): string {
  return `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`
}

/** Closes all connections and stops the server at a checkpoint, or kills it after 5 s. */
export function stopServer(server: ProcessId): Promise<void> {
  return terminate(server, [
    ['SIGINT', 5_000],
    ['SIGQUIT', 10_000],
  ])
}

/** The server that already runs, or a sentence why it is not usable yet; undefined if none runs. */
async function adopt(cluster: ClusterToRun): Promise<RunningServer | string | undefined> {
  const postmaster = await readPostmaster(cluster.clusterDir)
  const running = postmaster && runningPostmaster(postmaster)
  if (!running) return undefined
  const busy = `A PostgreSQL server (process ${running.pid}) has ${cluster.clusterDir} and does not answer.`
  if (!postmaster.ready || postmaster.port === undefined) return busy
  const answer = await answers(databaseUrlOf(postmaster.port, cluster.password))
  return answer ? { process: running, port: postmaster.port, adopted: true } : busy
}

/** The started server, or a sentence why it did not start if another try makes sense. */
async function start(cluster: ClusterToRun): Promise<RunningServer | string> {
  const port = await freePort(cluster.port)
  const process = await launch({
    command: join(cluster.native, 'bin', 'postgres'),
    args: serverArgs(cluster, port),
    logFile: cluster.logFile,
    env: serverEnvironment(await disownReusedPid(cluster.clusterDir)),
    cwd: '/',
    detached: cluster.detached,
    ...(cluster.account ? { account: cluster.account } : {}),
  })
  const isReady = async () => {
    const postmaster = await readPostmaster(cluster.clusterDir)
    if (postmaster?.pid !== process.pid || !postmaster.ready) return false
    return answers(databaseUrlOf(port, cluster.password))
  }
  let ready = false
  const decided = async () => {
    ready = await isReady()
    return ready || !isAlive(process)
  }
  try {
    await waitUntil(decided, RECOVERY_MS, 5)
  } finally {
    if (!ready) await stopServer(process)
  }
  if (ready) return { process, port, adopted: false }
  const trouble = `PostgreSQL did not start. The end of ${cluster.logFile}:\n${logTail(cluster.logFile)}`
  if (PASSING_TROUBLE.test(trouble)) return trouble
  throw new Error(trouble)
}

function serverArgs(cluster: ClusterToRun, port: number): string[] {
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'log_checkpoints=off',
    ...cluster.settings,
  ]
  return ['-D', cluster.clusterDir, ...settings.flatMap((setting) => ['-c', setting])]
}

/**
 * PostgreSQL ignores a pid in the lock file that belongs to its own launcher, which names itself in
 * `PG_GRANDPARENT_PID`. Naming a pid that now belongs to another program makes the server treat the file as stale; it
 * still checks that no old server process is attached to the cluster.
 */
async function disownReusedPid(clusterDir: string): Promise<Record<string, string>> {
  const postmaster = await readPostmaster(clusterDir)
  if (!postmaster || !identify(postmaster.pid) || !isSomethingElse(postmaster.pid)) return {}
  return { PG_GRANDPARENT_PID: String(postmaster.pid) }
}

/** Whether the server answers. A refused connection means no; a refused password is permanent, so it is thrown. */
async function answers(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: CONNECTION_MS,
  })
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (cause) {
    if (!(cause instanceof pg.DatabaseError && cause.code === '28P01')) return false
    throw new Error(
      'The database does not take the password that postgres.json of the data folder has. ' +
        'Bring back the file that was made with this database, or remove both.',
      { cause },
    )
  } finally {
    await client.end()
  }
}
