import { ConfigError } from './config.ts'

/** How soon everything has to have stopped; after that the process ends as it is. */
const stopWithinMs = 9_000

/** Ends the process when it is told to: with 0, or with 1 when stopping failed or took too long. */
export function onSignal(stop: () => Promise<void>): void {
  let stopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) return
      stopping = true
      setTimeout(() => process.exit(1), stopWithinMs).unref()
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}

/** Says why the store cannot go on, stops everything in time, and ends the process with 1. */
export async function giveUp(reason: string, stop: () => Promise<void>): Promise<never> {
  console.error(reason)
  setTimeout(() => process.exit(1), stopWithinMs).unref()
  // The reason that was told matters; what goes wrong while stopping would only cover it.
  await stop().catch(() => undefined)
  process.exit(1)
}

/** One message for whoever started the store; where it came from only for who asks for details. */
export function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const wantsDetails = ['trace', 'debug'].includes(process.env['LOG_LEVEL'] ?? '')
  return `The store cannot start: ${wantsDetails ? (error.stack ?? error.message) : error.message}`
}
