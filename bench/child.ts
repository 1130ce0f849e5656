import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Input } from './served.ts'

/** Starts `served.ts` as an operator starts the store: a server of the benchmarks in a process of its own. */
export async function startChild(input: Input) {
  const child = spawn(resolve('scripts/run'), ['bench/served.ts'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A server of the benchmarks ended with ${code}`)
  })
  const ask = async (message: object) => {
    child.send(message)
    const [answer] = await Promise.race([once(child, 'message'), ended])
    return answer
  }
  return {
    url: (await ask(input)) as string,
    /** CPU time of its process since its start, user and system, with all threads; milliseconds. */
    async cpuMs() {
      const { user, system } = (await ask({})) as NodeJS.CpuUsage
      return (user + system) / 1_000
    },
    async stop() {
      child.disconnect()
      await ended.catch(() => {})
    },
  }
}

export type Child = Awaited<ReturnType<typeof startChild>>
