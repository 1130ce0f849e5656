import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createLine, type Line, type Questions } from './line.ts'
import type { Taker } from './port.ts'
import { wireToChild } from './wire.ts'
import type { End, Worker } from './workers.ts'

/** A worker as its primary sees it. */
export interface WorkerProcess extends Worker, Taker {
  readonly id: number
  readonly pid: number | undefined
  readonly line: Line
  /** Comes with what it has on sale. */
  readonly ready: Promise<Questions['ready']['asks']>
  /** Ends it at once, whatever it does. */
  kill(): void
}

const program = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** @param execArgv what Node itself is told */
export function forkWorker(id: number, execArgv: readonly string[]): WorkerProcess {
  const child = fork(program, [String(id)], { execArgv: [...execArgv] })
  const line = createLine(wireToChild(child))
  const ready = Promise.withResolvers<Questions['ready']['asks']>()
  const ended = Promise.withResolvers<End>()
  let failure: End['failure']
  line.answer('ready', (sold) => {
    ready.resolve(sold)
    return null
  })
  line.answer('failed', (why) => {
    failure = why
    return null
  })
  // The end of a process tells of a channel that breaks; one that cannot even be started has no end.
  child.on('error', () => {
    if (child.pid === undefined) ended.resolve({ code: 1, signal: null, failure })
  })
  // Comes after all that it has said. A channel with a connection on its way never tells that it is closed.
  child.on('close', (code, signal) => {
    line.hangUp()
    ended.resolve({ code, signal, failure })
  })
  return {
    id,
    pid: child.pid,
    line,
    ready: ready.promise,
    ended: ended.promise,
    take: line.hand,
    stop: () => void child.kill('SIGTERM'),
    kill: () => void child.kill('SIGKILL'),
  }
}
