import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

/** A process is idle if, for this long, it has worked for at most this share of the time. */
const idleMs = 1_000
const idleShare = 0.2

/**
 * Collects all garbage as soon as the process is idle, which takes a tenth of a second or more. In a process that has
 * little to do, V8 keeps garbage for long: in a store, up to half of the memory (docs/contributors/performance.md). In a
 * busy one it collects by itself. Does nothing if Node was started without --expose-gc; scripts/run starts it with that.
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
    const before = performance.eventLoopUtilization()
    await delay(idleMs, undefined, { ref: false })
    if (signal.aborted) return
    if (performance.eventLoopUtilization(before).utilization <= idleShare) break
  }
  // The last resort of V8 also gives up its room for young objects, which an ordinary collection keeps.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
