import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { identify } from '../../sandbox/process.ts'
import { newDataDir, startChildStore } from '../child-store.ts'
import { noBrowser } from '../harness/browser.ts'
import { eventually } from '../stories/requests.ts'
import { descendantsOf } from './data-folder.ts'

const runs = (pids: readonly number[]) => pids.filter((pid) => identify(pid) !== undefined)

test('a store that is killed leaves no database, chain or other part running', async () => {
  const dataDir = await newDataDir()
  const store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '100' } })
  const started = descendantsOf(store.process.pid as number)
  expect(started.length).toBeGreaterThan(4)
  await store.stop('SIGKILL')
  await eventually(
    () => runs(started),
    (left) => left.length === 0,
  )
  await rm(dataDir, { recursive: true })
})

test.skipIf(noBrowser)(
  'a run of tests that is killed leaves no database, files of it, chain or browser',
  async () => {
    const dataDir = await newDataDir()
    const script = `
      import { startChain } from './sandbox/chain/chain.ts'
      import { startTestPostgres } from './sandbox/postgres/test-postgres.ts'
      import { openBrowser } from './test/harness/browser.ts'
      await Promise.all([startTestPostgres(), startChain({ dataDir: '${dataDir}' })])
      await (await openBrowser()).newPage()
      console.log('ready')
      setInterval(() => {}, 1000)`
    const databases = () =>
      readdirSync(tmpdir()).filter((name) => name.startsWith('kiosk402-test-'))
    const before = databases()
    const run = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...process.env, TMPDIR: tmpdir() },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(run.stdout, 'data')
    const started = descendantsOf(run.pid as number)
    const [made = ''] = databases().filter((name) => !before.includes(name))
    run.kill('SIGKILL')
    await eventually(
      () => runs(started),
      (left) => left.length === 0,
    )
    expect(databases()).not.toContain(made)
    expect(join(tmpdir(), made)).not.toBe(tmpdir())
    await rm(dataDir, { recursive: true })
  },
)
