import { onSignal, reasonOf } from '../app/lifecycle.ts'
import { loadSandbox } from '../app/sandbox-parts.ts'
import { startStore } from '../app/store-process.ts'
import { type Config, readConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { adoptEnvironment } from '../environment/process-environment.ts'
import { KeyMissing } from '../nodes/nodes.ts'
import { RecordTooOld } from '../operations/startup-check.ts'
import { serveHandedOffConnections } from './connection-handoff.ts'
import { createIpcPeer, type IpcPeer } from './ipc.ts'
import { channelToParent } from './ipc-channel.ts'
import { limitersAtPrimary } from './rate-limits.ts'

/** The primary answers at once unless it is exiting. */
const primaryTimeoutMs = 5_000
/** The faucet serves one request at a time, each within one block of the sandbox chain. */
const faucetTimeoutMs = 25_000
/** The primary waits up to a second for the metrics of the other workers. */
const metricsTimeoutMs = 3_000

/** Runs one worker. The primary has read the environment, and the files that it names. */
async function main(ipc: IpcPeer): Promise<void> {
  const environment = await ipc.request('environment', null, primaryTimeoutMs)
  adoptEnvironment(environment)
  const config = readConfig(environment)
  const starting = startStore(config, {
    sandbox: await sandboxOf(config, ipc),
    worker: Number(process.argv[2]),
    limitersAtPrimary: limitersAtPrimary(ipc),
    numbers(own) {
      ipc.handle('ownMetrics', () => own.getMetricsAsJSON())
      return () => ipc.request('metrics', null, metricsTimeoutMs)
    },
  })
  const isEnding = onSignal(starting, config.drainMs)
  const { service } = await starting
  if (isEnding()) return
  void service.refused.then((error) => giveUp(ipc, error))
  await serveHandedOffConnections(service.app, ipc)
  const { offers, rejected, readAt } = service.catalog()
  await ipc.request('ready', { offers, rejected, readAt: readAt.toISOString() }, primaryTimeoutMs)
}

/** Reads from the data folder which sandbox parts the primary has started. */
async function sandboxOf(config: Config, ipc: IpcPeer) {
  if (config.mode === 'live') return undefined
  const { runningSandbox } = await loadSandbox()
  const parts = await runningSandbox(config.dataDir)
  const faucet = (address: string) => ipc.request('faucet', address, faucetTimeoutMs)
  return parts && { parts, faucet }
}

/** Reports the failure to the primary, which tells the operator once and decides about the other workers. */
async function giveUp(ipc: IpcPeer, error: unknown): Promise<void> {
  const failure = { reason: reasonOf(error), isFinal: isFinal(error) }
  // The primary may have exited already.
  await ipc.request('failed', failure, primaryTimeoutMs).catch(() => undefined)
  process.exit(1)
}

/** Whether every other worker would fail the same way, with the same database and keys. */
function isFinal(error: unknown): boolean {
  if (error instanceof ConfigError) return error.isFinal
  return error instanceof RecordTooOld || error instanceof KeyMissing
}

const ipc = createIpcPeer(channelToParent())
// Without the primary this worker gets no connections and no stop signal.
process.on('disconnect', () => process.exit(1))
main(ipc).catch((error: unknown) => giveUp(ipc, error))
