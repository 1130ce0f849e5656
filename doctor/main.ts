import { Worker } from 'node:worker_threads'
import { readArguments, usage, type Wanted } from './arguments.ts'
import type { Examined } from './examine.ts'
import { reportOf } from './report.ts'

/** More than the examination of a slow store takes; milliseconds. */
const deadlineMs = 240_000

/** Exit code 0: nothing would stop a buyer. 1: something would. 2: the store could not be examined. */
process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<0 | 1 | 2> {
  let wanted: Wanted | 'help'
  try {
    wanted = readArguments(args, process.env['METRICS_TOKEN'])
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return 2
  }
  if (wanted === 'help') {
    console.log(usage)
    return 0
  }
  try {
    const examined = await examineInThread(wanted)
    const { text, isHealthy } = reportOf(wanted, examined)
    console.log(text)
    return isHealthy ? 0 : 1
  } catch (error) {
    console.error(
      `The store could not be examined: ${error instanceof Error ? error.message : error}`,
    )
    return 2
  }
}

async function examineInThread({ origin, publicOrigin, metrics }: Wanted): Promise<Examined> {
  const worker = new Worker(new URL('./examination.ts', import.meta.url), {
    workerData: { origin, publicOrigin, metrics },
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    // Captured: validators print there what they skip in the store's schemas.
    stderr: true,
  })
  const { promise, resolve, reject } = Promise.withResolvers<Examined>()
  const deadline = setTimeout(
    () => reject(new Error(`it took longer than ${deadlineMs / 1_000} s`)),
    deadlineMs,
  )
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', () => reject(new Error('the examination ended without a word')))
  try {
    return await promise
  } finally {
    clearTimeout(deadline)
    await worker.terminate()
  }
}
