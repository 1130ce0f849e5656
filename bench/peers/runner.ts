import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Report, Settings } from './pass.ts'

/** An engine in its process, after its build and its first pass. */
export interface Running {
  readonly report: Report
  /** Runs the first `count` queries again; returns the microseconds of each. */
  ask(count: number): Promise<readonly number[]>
  stop(): Promise<void>
}

/** The engine did not build or answer in time. */
export class TooLate extends Error {}

const readyWithinMs = 180_000
const passWithinMs = 60_000

/** @throws {TooLate} and other errors when the engine fails */
export async function startEngine(settings: Settings, withinMs = readyWithinMs): Promise<Running> {
  const child = fork(new URL('child.ts', import.meta.url), {
    execArgv: ['--expose-gc'],
    serialization: 'advanced',
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  try {
    const report = await answerOf<Report>(child, settings, withinMs)
    const ask = (count: number) => answerOf<readonly number[]>(child, count, passWithinMs)
    return { report, ask, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function answerOf<T>(
  child: ChildProcess,
  message: Settings | number,
  withinMs: number,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const failed = () => reject(new Error('The engine ended before it had answered'))
  const answered = (answer: unknown) => resolve(answer as T)
  const timer = setTimeout(
    () => reject(new TooLate(`no answer in ${withinMs / 1_000} s`)),
    withinMs,
  )
  child.once('message', answered).once('exit', failed).once('error', reject)
  child.send(message)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    child.off('message', answered).off('exit', failed).off('error', reject)
  }
}
