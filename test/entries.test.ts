import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** What the programs are made of; the programs themselves run when they are imported. */
const programs = [
  'src/app.ts',
  'src/commands/main.ts',
  'sandbox/sandbox.ts',
  'sandbox/supplier/server.ts',
  'sandbox/btcpay/server.ts',
  'chaos/run.ts',
  'fuzz/store.ts',
]

const script = `
  await Promise.all(${JSON.stringify(programs)}.map((file) => import('./' + file)))
  const { acts } = await import('./src/commands/main.ts')
  await Promise.all(Object.values(acts).map((load) => load()))
  process.exit(0)`

// Vitest finds exports of CommonJS packages that Node does not: every test could pass, and no program start.
test('Node itself can load every program', async () => {
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect((await run).stderr).toBe('')
}, 300_000)
