import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** The changes of the tables since the first release. No version works on tables from before it. */
const migrations = ['src/adapters/storage/schema', ':!src/adapters/storage/schema/001-schema.sql']

/** Whether there is no earlier version to upgrade from: none was released, or this folder is no whole clone. */
export const hasNoHistory: boolean = await earlier().then(
  () => false,
  () => {
    console.warn(
      'Left out here: an upgrade, since there is no earlier version with tables that this one takes',
    )
    return true
  },
)

/** The newest version before the last change of the tables, beside which an upgrade must work. */
async function earlier(): Promise<string> {
  const changed = await git('rev-list', '-1', 'HEAD', '--', ...migrations)
  return git('rev-parse', '--verify', `${changed}^`)
}

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', args)
  return stdout.trim()
}

/**
 * Puts that version into a folder, as an operator does beside the running version, with the packages of
 * this one. It gets a version number of its own, which tells the nodes apart.
 */
export async function earlierRelease(folder: string): Promise<string> {
  await mkdir(folder, { mode: 0o755 })
  const archive = `${folder}.tar`
  await git('archive', '--output', archive, await earlier())
  await run('tar', ['-xf', archive, '-C', folder])
  await symlink(resolve('node_modules'), join(folder, 'node_modules'))
  await writeFile(
    join(folder, 'package.json'),
    (await readFile(join(folder, 'package.json'), 'utf8')).replace(
      /"version": "[^"]+"/,
      '"version": "0.0.0-earlier"',
    ),
  )
  await run('npm', ['run', '--if-present', 'prepare'], { cwd: folder })
  return folder
}
