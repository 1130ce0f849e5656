import { serveParent } from '../test/harness/child.ts'
import { type NodeSettings, startNode } from '../test/harness/node.ts'
import { routesIn } from '../test/harness/routes-in.ts'
import { secretsOf } from './trial.ts'

/**
 * A store in a process of its own, which tells how much CPU time its main thread has used: the time during
 * which no other request is answered, whatever else the machine does.
 */
await serveParent(async (settings: NodeSettings) => {
  let routes: ReturnType<typeof routesIn> = []
  let badLine: string | undefined
  const secrets = secretsOf(settings)
  const watch = (line: string) => {
    if (secrets.some((secret) => line.includes(secret))) badLine = line
  }
  const { stop } = await startNode(settings, watch, (app) => {
    routes = routesIn(app.printRoutes({ commonPrefix: false }))
  })
  const look = () => {
    const { user, system } = process.threadCpuUsage()
    return { threadMs: (user + system) / 1_000, badLine }
  }
  return { started: routes, look, stop }
})
