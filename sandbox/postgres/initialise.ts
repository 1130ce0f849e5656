import { execFile } from 'node:child_process'
import { chown, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { writePrivateFile } from '../private-file.ts'
import type { Account } from './account.ts'
import { serverEnvironment } from './environment.ts'

const run = promisify(execFile)

export const DATABASE_USER = 'kiosk402'

export type NewCluster = {
  clusterDir: string
  native: string
  password: string
  account: Account | undefined
  /** False skips the flush to disk, for clusters that only tests use. */
  sync: boolean
}

/**
 * Makes a cluster with one superuser that signs in by password, with UTF-8 and collation by bytes. It works in a
 * temporary folder beside the final one and renames it at the end, so a start that is killed leaves nothing that looks
 * like a cluster.
 */
export async function initialiseCluster(cluster: NewCluster): Promise<void> {
  const folder = `${cluster.clusterDir}.new`
  const passwordFile = `${cluster.clusterDir}.password`
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o700 })
  await writePrivateFile(passwordFile, `${cluster.password}\n`)
  try {
    await giveTo(cluster.account, folder, passwordFile)
    await run(join(cluster.native, 'bin', 'initdb'), initdbArgs(folder, passwordFile, cluster), {
      cwd: '/',
      env: serverEnvironment(),
      ...(cluster.account ?? {}),
    })
  } finally {
    await rm(passwordFile, { force: true })
  }
  await rename(folder, cluster.clusterDir)
}

function initdbArgs(folder: string, passwordFile: string, { sync }: NewCluster): string[] {
  return [
    `--pgdata=${folder}`,
    `--username=${DATABASE_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    ...(sync ? [] : ['--no-sync']),
  ]
}

async function giveTo(account: Account | undefined, ...paths: string[]): Promise<void> {
  if (!account) return
  await Promise.all(paths.map((path) => chown(path, account.uid, account.gid)))
}
