/** How a worker process ended. */
export interface End {
  readonly code: number | null
  readonly signal: string | null
  /** Why it could not go on, when it said so. Final: no other worker could either. */
  readonly failure?: { readonly reason: string; readonly isFinal: boolean } | undefined
}

/** A worker process. */
export interface Worker {
  /** Comes when it listens; never, when it ends before. */
  readonly ready: Promise<unknown>
  readonly ended: Promise<End>
  /** Tells it to finish what it has begun and end. */
  stop(): void
}

export interface WorkersOptions<W extends Worker> {
  readonly size: number
  readonly start: () => W
  /** Hears of every end that nobody asked for, and how soon another worker is started. */
  readonly lost: (worker: W, end: End, startsInMs: number) => void
  /** A clock that never goes back, in milliseconds. */
  readonly monotonicMs: () => number
  /** Waits, or less when the signal says stop. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface Workers {
  /** Comes when all workers listen for the first time. */
  readonly complete: Promise<void>
  /** Comes with the reason when there is no use in going on. */
  readonly hopeless: Promise<string>
  /** Stops all workers; true when every one of them ended well. */
  stop(): Promise<boolean>
}

/** How long a lost worker's place stays empty: doubles while the new ones do not last. */
const minPauseMs = 250
const maxPauseMs = 15_000
/** A worker that served for so long was a good one. */
const lastedMs = 10_000
/** So many starts in a row that came to nothing, and nobody else serves: it will not get better. */
const maxStartsInVain = 5

/**
 * Keeps as many workers running as it was told, each in a place of its own. Until all of them have
 * listened once, a worker that says why it cannot start ends the whole start, as it would have ended
 * a single process. Later the others go on serving, while its place is tried again and again.
 */
export function startWorkers<W extends Worker>(options: WorkersOptions<W>): Workers {
  const { size, start, lost, monotonicMs, pause } = options
  const stopping = new AbortController()
  const complete = Promise.withResolvers<void>()
  const hopeless = Promise.withResolvers<string>()
  const alive = new Set<Worker>()
  const serving = new Set<Worker>()
  let wasComplete = false
  let endedWell = true

  function goesOn(end: End, startsInVain: number): boolean {
    if (end.failure?.isFinal) return false
    if (end.failure !== undefined && !wasComplete) return false
    const hasOthers = wasComplete && serving.size > 0
    return hasOthers || startsInVain < maxStartsInVain
  }

  /** Lets one worker live. Returns how it ended and how long it served; undefined: not at all. */
  async function live() {
    const worker = start()
    let readyAt: number | undefined
    void worker.ready.then(() => {
      readyAt = monotonicMs()
      serving.add(worker)
      wasComplete ||= serving.size === size
      if (wasComplete) complete.resolve()
    })
    alive.add(worker)
    const end = await worker.ended
    alive.delete(worker)
    serving.delete(worker)
    const servedMs = readyAt === undefined ? undefined : monotonicMs() - readyAt
    return { worker, end, servedMs }
  }

  async function keepPlace(): Promise<void> {
    const patience = createPatience()
    while (!stopping.signal.aborted) {
      const { worker, end, servedMs } = await live()
      if (stopping.signal.aborted) {
        // Before it listens it has begun nothing, and ends by the signal itself.
        endedWell &&= end.code === 0 || servedMs === undefined
        return
      }
      const { startsInVain, pauseMs } = patience.after(servedMs)
      if (!goesOn(end, startsInVain)) return hopeless.resolve(end.failure?.reason ?? wordsFor(end))
      lost(worker, end, pauseMs)
      await pause(pauseMs, stopping.signal)
    }
  }

  const places = Array.from({ length: size }, keepPlace)
  return {
    complete: complete.promise,
    hopeless: hopeless.promise,
    async stop() {
      stopping.abort()
      for (const worker of alive) worker.stop()
      await Promise.all(places)
      return endedWell
    },
  }
}

/** Remembers of one place how its workers fared, and so how long it stays empty. */
function createPatience() {
  let startsInVain = 0
  let pauseMs = minPauseMs / 2
  return {
    /** @param servedMs how long the last worker served; undefined when it never came to that */
    after(servedMs: number | undefined) {
      startsInVain = servedMs === undefined ? startsInVain + 1 : 0
      const lasted = servedMs !== undefined && servedMs >= lastedMs
      pauseMs = lasted ? minPauseMs : Math.min(pauseMs * 2, maxPauseMs)
      return { startsInVain, pauseMs }
    },
  }
}

function wordsFor({ code, signal }: End): string {
  const how = signal === null ? `with status ${code}` : `by ${signal}`
  return `The store cannot start: its workers end ${how}, ${maxStartsInVain} times in a row.`
}
