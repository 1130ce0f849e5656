import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const migrations = 'src/adapters/storage/migrations'

/** Whether there is no earlier version to upgrade from: this folder is no clone, or a shallow one. */
export const hasNoHistory: boolean = await earlier().then(
  () => false,
  () => {
    console.warn(
      'Left out here: an upgrade, since there is no history to take the version before from',
    )
    return true
  },
)

/** The newest version before the last change of the tables: that is the one an upgrade has to live beside. */
async function earlier(): Promise<string> {
  const changed = await git('rev-list', '-1', 'HEAD', '--', migrations)
  return git('rev-parse', '--verify', `${changed}^`)
}

async function git(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', args)
  return stdout.trim()
}

/**
 * Puts that version into a folder, as an operator has it beside the one that runs, with the packages of
 * this one. Its number is one of its own, so that nodes can be told apart.
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
