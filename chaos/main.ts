import { rm } from 'node:fs/promises'
import { newDataDir } from '../test/child-store.ts'
import { readArguments, usage, type Wanted } from './arguments.ts'
import { startParts } from './parts.ts'
import { reportOf } from './report.ts'
import { run } from './run.ts'

/** Exit code 1 says that something was wrong, or that the run could not be made. */
process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const wanted = wantedBy(args)
  if (wanted === undefined) return 1
  if (wanted === 'help') {
    console.log(usage)
    return 0
  }
  const cancelling = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => cancelling.abort(new Error(`ended by ${signal}`)))
  }
  const stops: (() => Promise<unknown>)[] = []
  const dataDir = await newDataDir()
  try {
    const parts = await startParts(dataDir, wanted.nodes, stops)
    cancelling.signal.throwIfAborted()
    console.log(`Chaos for ${wanted.seconds} s with seed ${wanted.seed}`)
    const outcome = await run(parts, wanted, cancelling.signal)
    console.log(reportOf(outcome))
    if (outcome.findings.length > 0) throw new Error('The run is not clean.')
    stops.push(() => rm(dataDir, { recursive: true, force: true }))
    return 0
  } catch (error) {
    console.error(error)
    console.error(`Logs and data stay in ${dataDir}`)
    return 1
  } finally {
    await stopAll(stops)
  }
}

/** Every part is stopped, whatever becomes of the others. */
async function stopAll(stops: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const stop of stops) {
    try {
      await stop()
    } catch (error) {
      console.error(error)
      process.exitCode = 1
    }
  }
}

function wantedBy(args: readonly string[]): Wanted | 'help' | undefined {
  try {
    return readArguments(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return undefined
  }
}
