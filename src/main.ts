import { onSignal, reasonOf } from './app/lifecycle.ts'
import { holdPort } from './app/port.ts'
import { startParts } from './app/sandbox-parts.ts'
import { announce } from './app/terminal.ts'
import { type Config, readConfig } from './config.ts'
import { ownEnvironment } from './environment/secret-files.ts'

/** The store as its operator starts it. */
async function main(): Promise<void> {
  const startedAt = performance.now()
  const config = readConfig(ownEnvironment(console.warn))
  const port = await holdPort(config)
  const starting = start(config)
  const isEnding = onSignal(starting, config.drainMs)
  const { service, payUrl } = await starting
  if (isEnding()) return
  await port.handTo(service.app)
  announce(config, service.catalog(), performance.now() - startedAt, payUrl)
}

/** A store, with the sandbox that stops after it. */
async function start(config: Config) {
  const parts = startParts(config)
  // Loaded only now, while the parts start in processes of their own.
  const loading = import('./app/store-process.ts')
  const sandbox = await parts
  try {
    const { startStore } = await loading
    const { service, stop } = await startStore(config, sandbox)
    const stopAll = async (drainMs: number) => {
      await stop(drainMs)
      await sandbox?.stop()
    }
    return { service, stop: stopAll, payUrl: sandbox?.btcpay.url }
  } catch (error) {
    await sandbox?.stop()
    throw error
  }
}

main().catch((error: unknown) => {
  console.error(reasonOf(error))
  process.exit(1)
})
