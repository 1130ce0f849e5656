import { randomUUID } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { canReach } from './account.ts'
import { makeSystemDir } from './native.ts'

/**
 * The place of a new cluster: the data folder, unless the account that runs the server cannot access it. That happens
 * to root, whose home is closed to all other accounts. We must not open somebody's home, and temporary folders are
 * emptied at boot, so the cluster is then kept below `systemDir`, under a name that the data folder remembers.
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

/** @throws Error that says what to do, if the account cannot access an existing cluster */
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

/** Whether this is a complete cluster: initdb works in a temporary folder, which is renamed when it is done. */
export async function isCluster(clusterDir: string): Promise<boolean> {
  try {
    return (await stat(join(clusterDir, 'PG_VERSION'))).isFile()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw new Error(`The database folder ${clusterDir} cannot be read.`, { cause: error })
  }
}
