import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { NodeSettings } from '../test/harness/node.ts'
import { query } from '../test/harness/query.ts'
import { settingsOn, startRealParts } from '../test/harness/real-parts.ts'
import type { Said } from './store-process.ts'
import { secretsOf } from './trial.ts'

/** A store of this many offers on a real database, chain and supplier, in a process of its own. */
export async function startStore(offers: number) {
  await using starting = new AsyncDisposableStack()
  const parts = starting.adopt(await startRealParts({ offers, stepMs: 15 }), (one) => one.stop())
  const settings = await settingsOn(parts)
  const { stop: _, ...node } = starting.adopt(await startNode(settings), (one) => one.stop())
  const { url, port, databaseUrl } = settings
  const started = starting.move()
  return {
    ...{ url, port, ...node },
    secrets: secretsOf(settings),
    async countOrders(): Promise<number> {
      const [row] = await query(databaseUrl, 'select count(*)::int as orders from orders')
      return row.orders
    },
    stop: () => started.disposeAsync(),
  }
}

export type FuzzedStore = Awaited<ReturnType<typeof startStore>>

/** Starts the process of the store, and talks to it. */
async function startNode(settings: NodeSettings) {
  const child = fork(new URL('store-process.ts', import.meta.url))
  const badLines: string[] = []
  let answer = Promise.withResolvers<Said>()
  child.on('exit', (code, signal) => answer.reject(new Error(`The store ended: ${code ?? signal}`)))
  child.on('message', (said: Said) => {
    if (said.badLine !== undefined) badLines.push(said.badLine)
    else answer.resolve(said)
  })
  const send = (message: object): Promise<Said> => {
    answer = Promise.withResolvers()
    child.send(message, (error) => error && answer.reject(error))
    return answer.promise
  }
  const { routes = [] } = await send(settings)
  return {
    badLines,
    routes,
    threadMs: async () => (await send({})).threadMs ?? Number.NaN,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      answer.promise.catch(() => {})
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
