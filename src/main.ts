import { onSignal, reasonOf } from './app/lifecycle.ts'
import { listen, requireFreePort, startParts, startStore } from './app/store-process.ts'
import { announce } from './app/terminal.ts'
import { type Config, readConfig } from './config.ts'
import { ownEnvironment } from './environment/secret-files.ts'

/** The store as its operator starts it. */
async function main(): Promise<void> {
  const startedAt = performance.now()
  const config = readConfig(ownEnvironment(console.warn))
  await requireFreePort(config)
  const starting = start(config)
  const isEnding = onSignal(starting, config.drainMs)
  const { service, stop, payUrl } = await starting
  if (isEnding()) return
  try {
    await listen(service.app, config)
  } catch (error) {
    await stop(0)
    throw error
  }
  announce(config, service.catalog(), performance.now() - startedAt, payUrl)
}

/** A store, with the sandbox that stops after it. */
async function start(config: Config) {
  const sandbox = await startParts(config)
  try {
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
