import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

/** A server of the benchmarks in a process of its own. */
export interface Child<Told> {
  /** The message that it sent when it was ready. */
  readonly told: Told
  /** CPU time of its process since its start, user and system, with all threads; milliseconds. */
  cpuMs(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts a program of this folder as an operator starts the store, and waits until it is ready. Its
 * standard output is discarded.
 *
 * @throws when it ends before it is ready
 */
export async function startChild<Told>(program: string, input: object): Promise<Child<Told>> {
  const child = spawn(resolve('scripts/run'), [`bench/${program}`], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.send(input)
  const told = (await answerOf(child)) as Told
  return {
    told,
    async cpuMs() {
      child.send('cpu')
      const { user, system } = (await answerOf(child)) as NodeJS.CpuUsage
      return (user + system) / 1_000
    },
    async stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const listening = new AbortController()
  const { signal } = listening
  try {
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`A server of the benchmarks ended with ${code}`)
    })
    const [answer] = await Promise.race([once(child, 'message', { signal }), ended])
    return answer
  } finally {
    listening.abort()
  }
}

/** A server in a program that {@link startChild} starts. */
export interface Served {
  /** Sent to the parent when it is ready. */
  readonly told: object
  stop(): Promise<unknown>
}

/** Serves with the input of the parent, reports its CPU time on request, and ends when the parent disconnects. */
export async function serveParent<Input>(serve: (input: Input) => Promise<Served>): Promise<void> {
  const [input] = await once(process, 'message')
  const served = await serve(input as Input)
  process.on('message', () => process.send?.(process.cpuUsage()))
  process.once('disconnect', () => {
    served.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  })
  process.send?.(served.told)
}
