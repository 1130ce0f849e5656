import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { plainEnvironment } from '../../sandbox/process.ts'

const run = promisify(execFile)

test('kiosk402 runs by a link in PATH from any folder, on the Node that is installed with it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kiosk402-path-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(resolve('scripts/kiosk402'), join(folder, 'kiosk402'))
  const env = { ...plainEnvironment(), PATH: `${folder}:/usr/bin:/bin` }
  const { stdout } = await run('kiosk402', ['--version'], { cwd: folder, env })
  expect(stdout).toBe(`${packageJson.version}\n`)
})

test('npm exec finds kiosk402 in a clone', async () => {
  const { stdout } = await run('npm', ['exec', '--', 'kiosk402', '--version'])
  expect(stdout).toBe(`${packageJson.version}\n`)
})
