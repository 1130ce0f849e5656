interface RepeatOptions {
  readonly everyMs: number
  /** After a failed run. It doubles with every further failure, up to `everyMs`. */
  readonly retryMs: number
  readonly signal: AbortSignal
}

/** Runs `task`, which returns whether it succeeded and does not throw, never twice at once, until the signal aborts. */
export async function repeat(task: () => Promise<boolean>, rhythm: RepeatOptions): Promise<void> {
  let retryMs = rhythm.retryMs
  while (!rhythm.signal.aborted) {
    const isGood = await task()
    const waitMs = isGood ? rhythm.everyMs : Math.min(retryMs, rhythm.everyMs)
    retryMs = isGood ? rhythm.retryMs : waitMs * 2
    await pause(waitMs, rhythm.signal)
  }
}

export interface LoopDeps {
  readonly signal: AbortSignal
  readonly failed: (what: string, error: unknown) => void
}

/** Repeats work that may throw. */
export function repeatWork(
  what: string,
  work: () => Promise<unknown>,
  { everyMs, signal, failed }: LoopDeps & { readonly everyMs: number },
): Promise<void> {
  return repeat(trying(what, work, failed), { everyMs, retryMs: everyMs, signal })
}

/** A task for `repeat`. */
export function trying(
  what: string,
  work: () => Promise<unknown>,
  failed: LoopDeps['failed'],
): () => Promise<boolean> {
  return async () => {
    try {
      await work()
      return true
    } catch (error) {
      failed(what, error)
      return false
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  const stop = () => resolve()
  signal.addEventListener('abort', stop)
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', stop)
}

/** A turn of the event loop uses up one part of a timeout at most, however long it takes. */
const parts = 10

/** Only time in which this process could handle answers counts: a busy caller says nothing about the other side. */
export async function within<T>(
  ms: number,
  answer: Promise<T>,
  timeoutMessage: string,
): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  let left = parts
  let timer = setTimeout(pass, ms / parts)
  function pass() {
    left -= 1
    // After a long turn of the event loop Node runs timers before pending input, and immediates after it.
    if (left === 0) setImmediate(() => reject(new Error(timeoutMessage)))
    else timer = setTimeout(pass, ms / parts)
  }
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** Runs functions one at a time, in the order of the calls. A failed one does not block the next. */
export type InTurn = <T>(task: () => Promise<T>) => Promise<T>

export function inTurn(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const result = last.then(task)
    last = result.catch(() => undefined)
    return result
  }
}

export type Sliced<T> = Generator<undefined, T>

const sliceMs = 6

/** Does the work in slices of a few milliseconds, and whatever waits before each of them. */
export async function inSlices<T>(steps: Sliced<T>): Promise<T> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    const until = performance.now() + sliceMs
    do {
      const step = steps.next()
      if (step.done) return step.value
    } while (performance.now() < until)
  }
}

export function atOnce<T>(steps: Sliced<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

export function* eachOf<T>(
  items: Iterable<T>,
  visit: (item: T, at: number) => void,
  few = 32,
): Sliced<void> {
  let at = 0
  for (const item of items) {
    visit(item, at++)
    if (at % few === 0) yield
  }
}
