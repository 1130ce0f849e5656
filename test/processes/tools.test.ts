import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** What is also run by hand: a few seconds of each. */
test.each([
  ['fuzz', ['fuzz/main.ts', '--inputs', '2000', '--seed', '402'], /^faults +0$/m],
  ['simulate', ['test/simulation/main.ts', '--seed', '1', '--runs', '1'], /^seed 1 .* ok$/m],
])('npm run %s starts by itself, and ends well', async (_, args, said) => {
  const { stdout } = await run(process.execPath, args)
  expect(stdout).toMatch(said)
})
