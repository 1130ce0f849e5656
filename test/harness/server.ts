import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { leftOut } from './left-out.ts'

/** A third-party server, at its path in Debian's package. */
export interface Installed {
  readonly name: string
  readonly program: string
}

interface Run extends Installed {
  readonly args: readonly string[]
  /** A folder of its own, which is deleted when it stops. */
  readonly dir: string
  /** Whether the server answers. */
  readonly isThere: () => Promise<boolean>
}

/** The reason why a server cannot be run here; undefined if it can. */
export function noServer({ name, program }: Installed): string | undefined {
  const isInstalled = existsSync(program)
  return leftOut(
    isInstalled ? undefined : `${program} is missing (on Debian: apt-get install ${name})`,
  )
}

/** Starts a server and waits until it answers. */
export async function startServer({ name, program, args, dir, isThere }: Run) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: homeIn(dir) })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const stop = async () => {
    await ended(child)
    await rm(dir, { recursive: true, force: true })
  }
  try {
    await untilItAnswers(child, isThere)
  } catch (error) {
    await stop()
    throw new Error(`${name} did not start: ${said}`, { cause: error })
  }
  return {
    /** What it wrote to standard error. */
    said: () => said,
    reload: () => void child.kill('SIGHUP'),
    stop,
  }
}

/** An environment in which a server keeps its data in this folder. */
export function homeIn(dir: string) {
  return { PATH: process.env['PATH'], HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function untilItAnswers(child: ChildProcess, isThere: () => Promise<boolean>) {
  const deadline = performance.now() + 20_000
  while (!(await isThere().catch(() => false))) {
    const isOver = child.exitCode !== null || performance.now() > deadline
    if (isOver) throw new Error('It does not answer.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
