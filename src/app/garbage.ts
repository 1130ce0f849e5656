import { setTimeout as delay } from 'node:timers/promises'

/** A process is idle if, for this long, its thread has used at most this share of a core. */
const idleMs = 1_000
const idleShare = 0.05

/**
 * Collects all garbage as soon as the process is idle, because this blocks it for a tenth of a second or more. V8 rarely
 * collects in an idle process: garbage was up to half of the memory of a store (docs/contributors/performance.md). In a
 * busy process V8 collects by itself. Without --expose-gc, which scripts/run passes to Node, this does nothing.
 *
 * @returns a function to call after work that leaves much garbage; its promise ends when that is collected, or with `signal`
 */
export function createGarbageCollector(signal: AbortSignal): () => Promise<void> {
  let collecting: Promise<void> | undefined
  return () => {
    collecting ??= collectWhenIdle(signal).finally(() => {
      collecting = undefined
    })
    return collecting
  }
}

async function collectWhenIdle(signal: AbortSignal): Promise<void> {
  const { gc } = globalThis
  if (gc === undefined) return
  for (;;) {
    const before = process.threadCpuUsage()
    await delay(idleMs, undefined, { ref: false })
    if (signal.aborted) return
    const { user, system } = process.threadCpuUsage(before)
    if ((user + system) / 1_000 <= idleShare * idleMs) break
  }
  // The last resort of V8 also gives up its room for young objects, which an ordinary collection keeps.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
