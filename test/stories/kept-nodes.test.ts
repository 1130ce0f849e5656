import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepNode } from '../../chaos/node.ts'
import { newDataDir } from '../child-store.ts'
import { eventually } from './requests.ts'
import { siblingSettings, useStore } from './store.ts'

// The keeper of a node in a chaos run must tell a kill of that run from any other end.

const store = useStore()

test('a node that others kill has ended by itself, one that its keeper kills has not', async () => {
  const dir = await newDataDir()
  const logFile = join(dir, 'node.log')
  const node = keepNode({ ...(await siblingSettings(store)), logFile })
  const lives = () =>
    fetch(`${node.url}/`)
      .then(() => true)
      .catch(() => false)
  try {
    await node.ready
    await node.kill()
    await eventually(lives, (isUp) => isUp)
    expect(node.endedAlone).toEqual([])
    process.kill(node.pid() as number, 'SIGKILL')
    await eventually(lives, (isUp) => !isUp)
    await eventually(lives, (isUp) => isUp)
    expect(node.endedAlone).toEqual([`${node.url} ended with SIGKILL`])
  } finally {
    await node.stop()
    await rm(dir, { recursive: true })
  }
})
