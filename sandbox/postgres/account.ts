import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

/** The system account as which the database server runs. */
export type Account = { uid: number; gid: number }

const run = promisify(execFile)
const ACCOUNT_NAME = 'postgres'

/**
 * The account to run PostgreSQL as; undefined to use our own. PostgreSQL refuses to run as root, so root needs another
 * account: the owner of the cluster, else the system's `postgres` account, which is created if it is missing.
 */
export async function serverAccount(clusterDir: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await ownerOf(clusterDir)
  if (owner && owner.uid !== 0) return owner
  return (await findAccount()) ?? (await createAccount())
}

/**
 * Whether this account may pass through every folder above the path and has these rights on the path itself (as one
 * digit of chmod). It checks only the mode bits and no access lists: a wrong no only costs the caller a detour.
 */
export async function canReach(path: string, account: Account, rights = 0o1): Promise<boolean> {
  if (!(await permits(path, account, rights))) return false
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (!(await permits(folder, account, 0o1))) return false
    if (folder === dirname(folder)) return true
  }
}

async function permits(path: string, { uid, gid }: Account, bits: number): Promise<boolean> {
  const { mode, ...owner } = await stat(path)
  const shift = owner.uid === uid ? 6 : owner.gid === gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

async function ownerOf(path: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(path)
    return { uid, gid }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

async function findAccount(): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all([
      run('id', ['-u', ACCOUNT_NAME]),
      run('id', ['-g', ACCOUNT_NAME]),
    ])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch (error) {
    // `id` exits with 1 for an unknown name.
    if (error instanceof Error && 'code' in error && error.code === 1) return undefined
    throw error
  }
}

async function createAccount(): Promise<Account> {
  try {
    const options = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false']
    await run('useradd', [...options, ACCOUNT_NAME])
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and the account "${ACCOUNT_NAME}" could not be made. ` +
        'Start the store as another user, make that account, or set DATABASE_URL.',
      { cause },
    )
  }
  const made = await findAccount()
  if (!made) throw new Error(`The account "${ACCOUNT_NAME}" was made but cannot be found.`)
  return made
}
