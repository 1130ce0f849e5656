import { type Config, ConfigError, readConfig } from '../config.ts'
import { onSignal, reasonOf } from '../lifecycle.ts'
import { KeyMissing } from '../nodes.ts'
import { RecordTooOld } from '../operations/startup-check.ts'
import { loadSandbox } from '../sandbox-parts.ts'
import { startStore } from '../store-process.ts'
import { countingAtOwner } from './counting.ts'
import { serveHanded } from './handed.ts'
import { createLine, type Line } from './line.ts'
import { wireToParent } from './wire.ts'

/** The primary answers at once; when it does not, it is going away. */
const told = 5_000
/** The faucet serves one after the other, each as fast as the sandbox chain makes a block. */
const faucetWithinMs = 25_000
/** The primary waits a second for what the others counted. */
const numbersWithinMs = 3_000

/** One of several processes that serve the port. The primary starts it, with the same environment but for its secrets. */
async function main(line: Line): Promise<void> {
  const config = readConfig({ ...process.env, ...(await line.ask('secrets', null, told)) })
  const starting = startStore(config, {
    sandbox: await sandboxOf(config, line),
    worker: Number(process.argv[2]),
    atOwner: countingAtOwner(line),
    numbers(own) {
      line.answer('counted', () => own.getMetricsAsJSON())
      return () => line.ask('numbers', null, numbersWithinMs)
    },
  })
  const isEnding = onSignal(starting, config.drainMs)
  const { service } = await starting
  if (isEnding()) return
  void service.refused.then((error) => giveUp(line, error))
  await serveHanded(service.app, line)
  const { offers, rejected, readAt } = service.catalog()
  await line.ask('ready', { offers, rejected, readAt: readAt.toISOString() }, told)
}

/** The parts that the primary has started, as it wrote them down in the data folder. */
async function sandboxOf(config: Config, line: Line) {
  if (config.mode === 'live') return undefined
  const { runningSandbox } = await loadSandbox()
  const parts = await runningSandbox(config.dataDir)
  const faucet = (address: string) => line.ask('faucet', address, faucetWithinMs)
  return parts && { parts, faucet }
}

/** The primary tells the operator, once for all workers, and decides what becomes of the others. */
async function giveUp(line: Line, error: unknown): Promise<void> {
  const failure = { reason: reasonOf(error), isFinal: isFinal(error) }
  // A primary that is gone cannot be told; this process ends all the same.
  await line.ask('failed', failure, told).catch(() => undefined)
  process.exit(1)
}

/** Every worker would find the same record and the same tables, with the same keys. */
function isFinal(error: unknown): boolean {
  if (error instanceof ConfigError) return error.isFinal
  return error instanceof RecordTooOld || error instanceof KeyMissing
}

const line = createLine(wireToParent())
// Without the primary nothing comes any more, and nobody would stop this process.
process.on('disconnect', () => process.exit(1))
main(line).catch((error: unknown) => giveUp(line, error))
