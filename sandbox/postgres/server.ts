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
  /** The port of the last time; another is taken when somebody else has it now. */
  port: number | undefined
  /** More `name=value` settings of the server. */
  settings: readonly string[]
  detached: boolean
}

export type RunningServer = { process: ProcessId; port: number; adopted: boolean }

/** How long another server of this cluster may take to answer or to end, in milliseconds. */
const OTHER_SERVER_MS = 5_000
/** Replaying the log after a crash takes a while; as long as the server runs we wait this long. */
const RECOVERY_MS = 60_000
/** Reasons to fail that go away: a port taken meanwhile, the remains of a killed server ending. */
const PASSING_TROUBLE = /Address already in use|postmaster\.pid|shared memory block/

/**
 * Gives the running server of a cluster: the one that an earlier store left behind, if it answers
 * to our password, else a new one. A server that is starting or ending gets 5 s to make up its
 * mind; a lock file whose process is gone is left to PostgreSQL, which replaces it.
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

/** Where clients find the server's default database; user and password are in the address. */
export function databaseUrlOf(port: number, password: string): string {
  return `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/postgres`
}

/** Closes all connections and stops the server at a checkpoint, the hard way after 5 s. */
export function stopServer(server: ProcessId): Promise<void> {
  return terminate(server, [
    ['SIGINT', 5_000],
    ['SIGQUIT', 3_000],
  ])
}

/** The server that runs already, a sentence saying why it is not usable yet, or nothing. */
async function adopt(cluster: ClusterToRun): Promise<RunningServer | string | undefined> {
  const postmaster = await readPostmaster(cluster.clusterDir)
  const running = postmaster && runningPostmaster(postmaster)
  if (!running) return undefined
  const busy = `A PostgreSQL server (process ${running.pid}) has ${cluster.clusterDir} and does not answer.`
  if (!postmaster.ready || postmaster.port === undefined) return busy
  const answer = await answers(databaseUrlOf(postmaster.port, cluster.password))
  return answer ? { process: running, port: postmaster.port, adopted: true } : busy
}

/** The started server, or a sentence saying why not when it is worth another try. */
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
    return postmaster?.pid === process.pid && postmaster.ready
  }
  let ready = false
  const decided = async () => {
    ready = await isReady()
    return ready || !isAlive(process)
  }
  await waitUntil(decided, RECOVERY_MS, 5)
  if (ready) return proveOurs({ process, port, adopted: false }, cluster.password)
  const trouble = `PostgreSQL did not start. The end of ${cluster.logFile}:\n${logTail(cluster.logFile)}`
  await stopServer(process)
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
 * PostgreSQL does not count a pid in the lock file that belongs to its own launcher, and
 * `PG_GRANDPARENT_PID` is how a launcher names one. Naming a pid that another program got since
 * lets the server see that the file is stale; it still makes sure that no old server process is
 * attached to the cluster.
 */
async function disownReusedPid(clusterDir: string): Promise<Record<string, string>> {
  const postmaster = await readPostmaster(clusterDir)
  if (!postmaster || !identify(postmaster.pid) || !isSomethingElse(postmaster.pid)) return {}
  return { PG_GRANDPARENT_PID: String(postmaster.pid) }
}

/** Makes sure that the new server takes our password; if not, it must not be left running. */
async function proveOurs(server: RunningServer, password: string): Promise<RunningServer> {
  try {
    if (await answers(databaseUrlOf(server.port, password))) return server
    throw new Error(`PostgreSQL started on port ${server.port} but takes no connections.`)
  } catch (error) {
    await stopServer(server.process)
    throw error
  }
}

/** A refused connection is a no; a refused password will not get better and is thrown. */
async function answers(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 })
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
