import { giveUp, onSignal, reasonOf } from './app/lifecycle.ts'
import { listen, startParts, startStore } from './app/store-process.ts'
import { announce } from './app/terminal.ts'
import { runPrimary } from './cluster/primary.ts'
import { type Config, readConfig } from './config.ts'
import { ownEnvironment } from './environment/secret-files.ts'

/** The store as its operator starts it: one process, or as many as WORKERS says. */
async function main(): Promise<void> {
  const environment = ownEnvironment(console.warn)
  const config = readConfig(environment)
  await (config.workers === 1 ? runAlone(config) : runPrimary(config, environment))
}

async function runAlone(config: Config): Promise<void> {
  const startedAt = performance.now()
  const starting = startAlone(config)
  const isEnding = onSignal(starting, config.drainMs)
  const { service, stop, payUrl } = await starting
  if (isEnding()) return
  // A refusal that comes after the start ends the store, as it would have ended the start.
  void service.refused.then((error) => giveUp(reasonOf(error), stop))
  await listen(service.app, config).catch((error: unknown) => giveUp(reasonOf(error), stop))
  announce(config, service.catalog(), performance.now() - startedAt, payUrl)
}

/** A store in this process, with the sandbox that stops after it. */
async function startAlone(config: Config) {
  const sandbox = await startParts(config)
  try {
    const { service, stop } = await startStore(config, {
      sandbox: sandbox && {
        parts: sandbox,
        faucet: (address) => sandbox.faucet(address as `0x${string}`),
      },
    })
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
