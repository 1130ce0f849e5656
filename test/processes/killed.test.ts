import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { identify } from '../../sandbox/process.ts'
import { newDataDir, startChildStore } from '../child-store.ts'
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
