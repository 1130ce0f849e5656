import { randomUUID } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { canReach } from './account.ts'
import { makeSystemDir } from './native.ts'

/**
 * Where a new cluster goes: into the data folder, unless the account that runs the server cannot
 * get there. That happens to root, whose home is closed to every other account. Opening somebody's
 * home is not ours to do and a temporary folder would be emptied at the next boot, so the cluster
 * then lives below `systemDir` under a name that the data folder remembers.
 */
export async function placeCluster(
  dataDir: string,
  account: Account | undefined,
  systemDir: string,
): Promise<string> {
  const folder = await realpath(dataDir)
  if (!account || (await canReach(folder, account))) return join(folder, 'pg')
  await makeSystemDir(systemDir)
  return join(systemDir, `cluster-${randomUUID()}`)
}

/** Throws, saying what to do, when the account cannot get to a cluster that exists. */
export async function requireReach(
  clusterDir: string,
  account: Account | undefined,
): Promise<void> {
  if (!account || (await canReach(clusterDir, account))) return
  throw new Error(
    `The database in ${clusterDir} belongs to user ${account.uid}, who cannot reach it: a folder ` +
      'above it is closed to others. Open that folder (chmod o+x), move the data folder ' +
      '(DATA_DIR), or set DATABASE_URL.',
  )
}

/** Whether initdb has finished here: it works beside and its result is moved into place. */
export async function isCluster(clusterDir: string): Promise<boolean> {
  try {
    return (await stat(join(clusterDir, 'PG_VERSION'))).isFile()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw new Error(`The database folder ${clusterDir} cannot be read.`, { cause: error })
  }
}
