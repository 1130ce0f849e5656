import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Report, Settings } from './pass.ts'

/** An engine in its process, after it has built and asked everything once. */
export interface Running {
  readonly report: Report
  /** Asks the first so many questions again; microseconds of each. */
  ask(count: number): Promise<readonly number[]>
  stop(): Promise<void>
}

const readyWithinMs = 120_000
const passWithinMs = 60_000

/** @throws when the engine fails, or takes longer than it may */
export async function startEngine(settings: Settings): Promise<Running> {
  const child = fork(new URL('child.ts', import.meta.url), [JSON.stringify(settings)], {
    execArgv: ['--expose-gc'],
    serialization: 'advanced',
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  try {
    const report = await nextMessage<Report>(child, settings.name, readyWithinMs)
    const ask = (count: number) => {
      child.send(count)
      return nextMessage<readonly number[]>(child, settings.name, passWithinMs)
    }
    return { report, ask, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function nextMessage<T>(child: ChildProcess, name: string, withinMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const failed = () => reject(new Error(`${name} ended before it had answered`))
  const late = () => reject(new Error(`${name} did not answer in ${withinMs / 1_000} s`))
  const timer = setTimeout(late, withinMs)
  child.once('message', (message) => resolve(message as T))
  child.once('exit', failed)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.off('exit', failed)
  }
}
