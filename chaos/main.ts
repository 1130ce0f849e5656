import { rm } from 'node:fs/promises'
import { newDataDir } from '../test/child-store.ts'
import { readArguments, usage, type Wanted } from './arguments.ts'
import { startParts } from './parts.ts'
import { reportOf } from './report.ts'
import { run } from './run.ts'

/** Exit code 1: the audit found something, or the run failed. */
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
  // Nothing may end this process before it has stopped what it started.
  for (const failure of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(failure, (error) => cancelling.abort(error))
  }
  const stops: (() => Promise<unknown>)[] = []
  const dataDir = await newDataDir()
  const clean = await runToReport(wanted, dataDir, { stops, cancelled: cancelling.signal })
  const stopped = await stopAll(stops)
  if (clean && stopped) await rm(dataDir, { recursive: true, force: true })
  else console.error(`Logs and data stay in ${dataDir}`)
  return clean && stopped ? 0 : 1
}

/** Runs, and prints the report or the error. Returns whether the audit found nothing. */
async function runToReport(
  wanted: Wanted,
  dataDir: string,
  { stops, cancelled }: { stops: (() => Promise<unknown>)[]; cancelled: AbortSignal },
): Promise<boolean> {
  try {
    const parts = await startParts(dataDir, wanted, stops)
    cancelled.throwIfAborted()
    console.log(`Chaos for ${wanted.seconds} s with seed ${wanted.seed}`)
    const outcome = await run(parts, wanted, cancelled)
    console.log(reportOf(outcome))
    return outcome.findings.length === 0
  } catch (error) {
    console.error(error)
    return false
  }
}

/** Stops every part, even if another cannot be stopped. Returns whether all were stopped. */
async function stopAll(stops: readonly (() => Promise<unknown>)[]): Promise<boolean> {
  let stopped = true
  for (const stop of stops) {
    try {
      await stop()
    } catch (error) {
      console.error(error)
      stopped = false
    }
  }
  return stopped
}

function wantedBy(args: readonly string[]): Wanted | 'help' | undefined {
  try {
    return readArguments(args)
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return undefined
  }
}
