export interface Rhythm {
  /** Between one good run and the next. */
  readonly everyMs: number
  /** After a bad run; doubles with every further one, up to `everyMs`. */
  readonly retryMs: number
  readonly signal: AbortSignal
}

/**
 * Runs `task` now and then again and again, one after the other and never two at once, until the
 * signal says stop. The task tells whether it went well; it must not throw for what can go wrong.
 * Ends when the last run has ended.
 */
export async function repeat(task: () => Promise<boolean>, rhythm: Rhythm): Promise<void> {
  let retryMs = rhythm.retryMs
  while (!rhythm.signal.aborted) {
    const isGood = await task()
    const waitMs = isGood ? rhythm.everyMs : Math.min(retryMs, rhythm.everyMs)
    retryMs = isGood ? rhythm.retryMs : waitMs * 2
    await pause(waitMs, rhythm.signal)
  }
}

/** Ends after that time, or at once when the signal says stop. */
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
