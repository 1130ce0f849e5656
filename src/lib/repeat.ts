export interface RepeatOptions {
  /** The delay after a successful run. */
  readonly everyMs: number
  /** The delay after a failed run. It doubles with every further failure, up to `everyMs`. */
  readonly retryMs: number
  readonly signal: AbortSignal
}

/**
 * Runs `task` immediately and then repeatedly, never twice at once, until the signal aborts. The task
 * returns whether it succeeded; it must not throw for expected failures. Resolves when the last run
 * has ended.
 */
export async function repeat(task: () => Promise<boolean>, rhythm: RepeatOptions): Promise<void> {
  let retryMs = rhythm.retryMs
  while (!rhythm.signal.aborted) {
    const isGood = await task()
    const waitMs = isGood ? rhythm.everyMs : Math.min(retryMs, rhythm.everyMs)
    retryMs = isGood ? rhythm.retryMs : waitMs * 2
    await pause(waitMs, rhythm.signal)
  }
}

/** Resolves after this time, or at once when the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
