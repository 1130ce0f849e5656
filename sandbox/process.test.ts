import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort } from './port.ts'
import type { ProcessId } from './process.ts'
import { identify, isAlive, launch, logTail, programOf, terminate, waitUntil } from './process.ts'

let folder: string
let logFile: string
const started: ProcessId[] = []
/** Only ends tests that hang. */
const withinMs = 60_000

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiosk402-process-'))
  logFile = join(folder, 'log')
})

afterEach(async () => {
  for (const id of started.splice(0)) await terminate(id, [['SIGKILL', 30_000]])
  await rm(folder, { recursive: true })
})

async function shell(script: string): Promise<ProcessId> {
  const id = await launch({ command: '/bin/sh', args: ['-c', script], logFile })
  started.push(id)
  return id
}

it('launches a process that leads a group of its own and writes to its log', async () => {
  const id = await shell('echo first; echo second >&2; exec sleep 60')

  await waitUntil(() => logTail(logFile).includes('second'), withinMs)

  expect(logTail(logFile)).toBe('first\nsecond')
  expect(isAlive(id)).toBe(true)
  // Signal 0 only checks that the group exists.
  expect(process.kill(-id.pid, 0)).toBe(true)
})

it('rejects when there is no such command', async () => {
  const missing = launch({ command: join(folder, 'missing'), args: [], logFile })
  await expect(missing).rejects.toThrow('ENOENT')
})

it('sees that a process has ended', async () => {
  const id = await shell('exit 3')
  expect(await waitUntil(() => !isAlive(id), withinMs)).toBe(true)
  expect(identify(id.pid)).toBeUndefined()
})

it('does not take a successor under the same pid for the process', async () => {
  const id = await shell('exec sleep 60')
  const predecessor = { pid: id.pid, birth: 'earlier' }

  expect(isAlive(predecessor)).toBe(false)
  await terminate(predecessor, [['SIGKILL', 100]])
  expect(isAlive(id)).toBe(true)
})

it.runIf(existsSync('/proc/self/stat'))('counts a zombie as ended', async () => {
  const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  const [line] = await once(parent.stdout, 'data')
  const zombie = Number(String(line))
  // The shell would still reap the process; the program that replaces it does not.
  await waitUntil(() => programOf(parent.pid ?? 0) === 'sleep', withinMs)
  process.kill(zombie, 'SIGKILL')

  expect(await waitUntil(() => identify(zombie) === undefined, 2_000)).toBe(true)
  // A zombie can still be signalled, which deceives a simple check.
  expect(process.kill(zombie, 0)).toBe(true)
  parent.kill()
  await once(parent, 'exit')
})

it('counts a process as running until its last thread has let go of its port', async () => {
  const port = await freePort()
  const program = `require('node:net').createServer().listen(${port}, '127.0.0.1', () => console.log('up'))`
  for (let round = 0; round < 12; round += 1) {
    const id = await launch({ command: process.execPath, args: ['-e', program], logFile })
    expect(await waitUntil(() => logTail(logFile) === 'up', withinMs)).toBe(true)
    await terminate(id, [['SIGKILL', withinMs]])
    expect(await freePort(port)).toBe(port)
  }
})

it('goes on to the next signal when one does not help', async () => {
  const id = await shell("trap '' TERM; echo deaf; while :; do sleep 0.05; done")
  await waitUntil(() => logTail(logFile) === 'deaf', withinMs)

  await expect(terminate(id, [['SIGTERM', 100]])).rejects.toThrow('did not end after SIGTERM')
  expect(isAlive(id)).toBe(true)
  await terminate(id, [
    ['SIGTERM', 100],
    ['SIGKILL', 30_000],
  ])
  expect(isAlive(id)).toBe(false)
})
