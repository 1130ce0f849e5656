/** How a worker process ended. */
export interface WorkerExit {
  readonly code: number | null
  readonly signal: string | null
  /** The reason, if the worker reported one. When `isFinal`, a new worker would fail the same way. */
  readonly failure?: { readonly reason: string; readonly isFinal: boolean } | undefined
}

export interface Worker {
  /** Resolves when the worker serves connections; never resolves when it exits first. */
  readonly ready: Promise<unknown>
  readonly exit: Promise<WorkerExit>
  /** Asks the worker to finish its open requests and exit. */
  stop(): void
}

export interface WorkersOptions<W extends Worker> {
  readonly size: number
  readonly start: () => W
  /** Called for every unexpected exit, with the delay before the replacement starts. */
  readonly onExit: (worker: W, exit: WorkerExit, startsInMs: number) => void
  /** A clock that never goes back, in milliseconds. */
  readonly monotonicMs: () => number
  /** Waits for this time, or until the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface Workers {
  /** Resolves when all workers have been ready for the first time. */
  readonly allReady: Promise<void>
  /** Resolves with the reason when restarting workers cannot help. */
  readonly failed: Promise<string>
  /** Stops all workers. Resolves to whether all of them exited cleanly. */
  stop(): Promise<boolean>
}

/** The delay before a restart. It doubles while workers exit early. */
const minPauseMs = 250
const maxPauseMs = 15_000
/** A worker that served for this long resets the restart delay. */
const stableAfterMs = 10_000
/** Startup fails after this many failed starts in a row while no other worker serves. */
const maxFailedStarts = 5

/**
 * Keeps `size` workers running, each in its own slot. Until all of them have been ready once, a worker
 * that reports why it cannot start ends the whole startup, as it would for a single process. Afterwards
 * the other workers keep serving while the failed one is restarted.
 */
export function startWorkers<W extends Worker>(options: WorkersOptions<W>): Workers {
  const { size, start, onExit, monotonicMs, pause } = options
  const stopping = new AbortController()
  const allReady = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<string>()
  const alive = new Set<Worker>()
  const serving = new Set<Worker>()
  let wereAllReady = false
  let stoppedCleanly = true

  function shouldRestart(exit: WorkerExit, failedStarts: number): boolean {
    if (exit.failure?.isFinal) return false
    if (exit.failure !== undefined && !wereAllReady) return false
    const hasOthers = wereAllReady && serving.size > 0
    return hasOthers || failedStarts < maxFailedStarts
  }

  /** Runs one worker until it exits. `servedMs` is undefined when it never became ready. */
  async function runWorker() {
    const worker = start()
    let readyAt: number | undefined
    void worker.ready.then(() => {
      readyAt = monotonicMs()
      serving.add(worker)
      wereAllReady ||= serving.size === size
      if (wereAllReady) allReady.resolve()
    })
    alive.add(worker)
    const exit = await worker.exit
    alive.delete(worker)
    serving.delete(worker)
    const servedMs = readyAt === undefined ? undefined : monotonicMs() - readyAt
    return { worker, exit, servedMs }
  }

  async function superviseSlot(): Promise<void> {
    const backoff = createBackoff()
    while (!stopping.signal.aborted) {
      const { worker, exit, servedMs } = await runWorker()
      if (stopping.signal.aborted) {
        // SIGTERM, or the failure of its start, may have ended a worker that was not ready yet.
        stoppedCleanly &&= exit.code === 0 || servedMs === undefined
        return
      }
      const { failedStarts, pauseMs } = backoff.afterExit(servedMs)
      if (!shouldRestart(exit, failedStarts))
        return failed.resolve(exit.failure?.reason ?? describeRepeatedExit(exit))
      onExit(worker, exit, pauseMs)
      await pause(pauseMs, stopping.signal)
    }
  }

  const slots = Array.from({ length: size }, superviseSlot)
  return {
    allReady: allReady.promise,
    failed: failed.promise,
    async stop() {
      stopping.abort()
      for (const worker of alive) worker.stop()
      await Promise.all(slots)
      return stoppedCleanly
    },
  }
}

/** Computes the restart delay of one slot from how long its workers served. */
function createBackoff() {
  let failedStarts = 0
  let pauseMs = minPauseMs / 2
  return {
    /** @param servedMs how long the last worker served; undefined when it never became ready */
    afterExit(servedMs: number | undefined) {
      failedStarts = servedMs === undefined ? failedStarts + 1 : 0
      const lasted = servedMs !== undefined && servedMs >= stableAfterMs
      pauseMs = lasted ? minPauseMs : Math.min(pauseMs * 2, maxPauseMs)
      return { failedStarts, pauseMs }
    },
  }
}

function describeRepeatedExit({ code, signal }: WorkerExit): string {
  const how = signal === null ? `with status ${code}` : `by ${signal}`
  return `The store cannot start: workers exited ${how} ${maxFailedStarts} times in a row.`
}
