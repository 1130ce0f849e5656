import type { Cluster } from 'node:cluster'
import type { End, Worker } from './crew.ts'
import { handOnUntaken } from './hand-on.ts'
import { createLine, type Line, type Questions } from './line.ts'
import { wireToChild } from './wire.ts'

/** A worker as its primary sees it. */
export interface WorkerProcess extends Worker {
  readonly id: number
  readonly pid: number | undefined
  readonly line: Line
  /** Comes with what it has on sale. */
  readonly ready: Promise<Questions['ready']['asks']>
  /** Ends it at once, whatever it does. */
  kill(): void
}

export function forkWorker(cluster: Cluster): WorkerProcess {
  const worker = cluster.fork()
  handOnUntaken(worker)
  const line = createLine(wireToChild(worker.process))
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
  // A process that cannot even be started, and one whose channel breaks: its end tells of both.
  worker.on('error', () => undefined)
  worker.on('exit', (code: number | null, signal: string | null) =>
    ended.resolve({ code, signal: signal || null, failure }),
  )
  return {
    id: worker.id,
    pid: worker.process.pid,
    line,
    ready: ready.promise,
    ended: ended.promise,
    stop: () => void worker.process.kill('SIGTERM'),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}
