import { ConfigError } from '../environment/environment.ts'

/** Stopping may take this long; after that the process exits anyway. */
export const stopWithinMs = 9_000
/** A terminal that is closed sends SIGHUP to its processes. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Something that was started and can be stopped. */
export interface Stoppable {
  /** @param drainMs how long the store still serves before it stops */
  readonly stop: (drainMs: number) => Promise<void>
}

/**
 * Ends the process on a signal: with 0, or with 1 when stopping failed or took too long. On a signal during the
 * start, it finishes the start and stops at once, so that nothing stays behind.
 *
 * @param starting the start under way; it cleans up by itself when it fails
 * @param drainMs how long the store serves on, so that its load balancer sees that it is leaving
 * @returns whether the process was told to end
 */
export function onSignal(starting: Promise<Stoppable>, drainMs: number): () => boolean {
  let isEnding = false
  const end = async () => {
    const started = await starting.catch(() => undefined)
    setTimeout(() => process.exit(1), stopWithinMs + drainMs).unref()
    await started?.stop(drainMs)
  }
  for (const signal of endings) {
    process.on(signal, () => {
      if (isEnding) return
      isEnding = true
      end().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
  return () => isEnding
}

/** The message for the operator; with the stack if LOG_LEVEL asks for details. */
export function reasonOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return String(error)
  const wantsDetails = ['trace', 'debug'].includes(process.env['LOG_LEVEL'] ?? '')
  return `The store cannot start: ${wantsDetails ? (error.stack ?? error.message) : error.message}`
}
