import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  identify,
  isAlive,
  type LaunchOptions,
  launch,
  logTail,
  untilEarlierEnded,
  waitUntil,
} from './process.ts'

let folder: string
/** Only ends tests that hang. */
const withinMs = 60_000

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiosk402-process-'))
})
afterEach(() => rm(folder, { recursive: true }))

const optionsOf = (script: string): LaunchOptions => ({
  command: '/bin/sh',
  args: ['-c', script],
  logFile: join(folder, 'log'),
  processFile: join(folder, 'process.json'),
})
const hasWritten = (text: string) =>
  waitUntil(() => readFileSync(join(folder, 'log'), 'utf8').includes(text), withinMs)

it('stops a program by its signal, keeps what it leaves, and removes its folder', async () => {
  const [from, to, removes] = ['part', 'whole', 'gone'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  await mkdir(removes)
  const script = `trap 'echo saved > ${from}; exit 0' TERM; echo up; while :; do sleep 0.05; done`
  const program = await launch({
    ...optionsOf(script),
    removes,
    leaves: [from, to],
  })
  await hasWritten('up')
  expect([program.hasEnded(), identify(program.pid)]).toEqual([false, expect.anything()])
  await program.stop()
  await program.stop()
  expect([program.hasEnded(), identify(program.pid)]).toEqual([true, undefined])
  expect([readFileSync(to, 'utf8'), existsSync(from), existsSync(removes)]).toEqual([
    'saved\n',
    false,
    false,
  ])
})

it('kills a program that does not end, and keeps nothing of it', async () => {
  const [from, to] = [join(folder, 'part'), join(folder, 'whole')]
  await writeFile(from, 'half of')
  const deaf = await launch({
    ...optionsOf("trap '' TERM; echo deaf; while :; do sleep 0.05; done"),
    patience: 1,
    leaves: [from, to],
  })
  await hasWritten('deaf')
  await deaf.stop()
  expect([identify(deaf.pid), existsSync(to)]).toEqual([undefined, false])
})

it('shows why a program ended by itself', async () => {
  const program = await launch(optionsOf('echo no luck >&2; exit 3'))
  expect(await waitUntil(program.hasEnded, withinMs)).toBe(true)
  expect(logTail(join(folder, 'log'))).toBe('no luck')
})

it('ends a program whose launcher was killed, and waits for its end', async () => {
  const left = join(folder, 'left')
  const slow = optionsOf(
    `trap 'sleep 0.5; echo last > ${left}; exit' TERM; while :; do sleep 0.05; done`,
  )
  const script = `
    import { launch } from ${JSON.stringify(join(import.meta.dirname, 'process.ts'))}
    const { pid } = await launch(${JSON.stringify(slow)})
    console.log(pid)
    setInterval(() => {}, 1000)`
  const launcher = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(launcher.stdout, 'data')
  const program = identify(Number(line))
  launcher.kill('SIGKILL')
  await once(launcher, 'exit')
  await untilEarlierEnded(slow.processFile)
  expect(program && isAlive(program)).toBe(false)
  expect(readFileSync(left, 'utf8')).toBe('last\n')
})

it('takes no later process with the same pid, and no zombie, for a running one', async () => {
  const own = identify(process.pid)
  expect(own && [isAlive(own), isAlive({ ...own, birth: 'another' })]).toEqual([true, false])
  // The shell becomes a program that never waits for its children.
  const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'])
  const [line] = await once(parent.stdout, 'data')
  await waitUntil(
    () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim() === 'sleep',
    withinMs,
  )
  process.kill(Number(line), 'SIGKILL')
  expect(await waitUntil(() => identify(Number(line)) === undefined, withinMs)).toBe(true)
  // A zombie can still be signalled, which deceives a simple check.
  expect(process.kill(Number(line), 0)).toBe(true)
  parent.kill()
})
