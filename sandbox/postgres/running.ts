import { join } from 'node:path'
import { readPostmaster, runningPostmaster } from './postmaster.ts'
import { databaseUrlOf } from './server.ts'
import { loadSettings } from './settings.ts'

/**
 * Where the database of a data folder listens now, or undefined when it does not run. Nothing is
 * started or written: it is for commands that look at a sandbox that somebody else runs.
 */
export async function runningDatabaseUrl(dataDir: string): Promise<string | undefined> {
  const { clusterDir = join(dataDir, 'pg'), password } = await loadSettings(dataDir)
  const postmaster = await readPostmaster(clusterDir)
  if (postmaster?.port === undefined || !runningPostmaster(postmaster)) return undefined
  return databaseUrlOf(postmaster.port, password)
}
