import { type NodeSettings, startNode } from '../test/harness/node.ts'
import { routesIn } from '../test/harness/routes-in.ts'
import { secretsOf } from './trial.ts'

/** What the store's process says: first its routes, then its time after each message, and leaking log lines. */
export interface Said {
  readonly routes?: ReturnType<typeof routesIn>
  readonly threadMs?: number
  readonly badLine?: string
}

const say = (said: Said) => process.send?.(said)

/**
 * A store in a process of its own, which tells how much CPU time its main thread has used: the time during
 * which no other request is answered, whatever else the machine does. It ends with its parent.
 */
process.once('message', async (settings: NodeSettings) => {
  let routes: ReturnType<typeof routesIn> = []
  const secrets = secretsOf(settings)
  const watch = (badLine: string) => {
    if (secrets.some((secret) => badLine.includes(secret))) say({ badLine })
  }
  await startNode(settings, watch, (app) => {
    routes = routesIn(app.printRoutes({ commonPrefix: false }))
  })
  process.on('message', () => {
    const { user, system } = process.threadCpuUsage()
    say({ threadMs: (user + system) / 1_000 })
  })
  say({ routes })
})
process.on('disconnect', () => process.exit(0))
