import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Input } from './served.ts'

/** A server of the benchmarks in a process of its own. */
export interface Child {
  readonly url: string
  /** CPU time of its process since its start, user and system, with all threads; milliseconds. */
  cpuMs(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts `served.ts` as an operator starts the store, and waits until it is ready.
 *
 * @throws when it ends before it is ready
 */
export async function startChild(input: Input): Promise<Child> {
  const child = spawn(resolve('scripts/run'), ['bench/served.ts'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.send(input)
  const url = (await answerOf(child)) as string
  return {
    url,
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
