import { repeat } from '../lib/repeat.ts'
import type { Denylist } from '../orders/denylist.ts'
import type { LoopDeps } from './loops.ts'

/** How soon a change of the denylist takes effect in every process (docs/operators/operations.md); milliseconds. */
const readEveryMs = 5_000

/**
 * Reads the denylist, and reads it again until the signal aborts. While it cannot be read, the last one holds.
 *
 * @param everyMs if not every 5 s
 */
export async function watchDenylist(
  read: () => Promise<readonly string[]>,
  { signal, failed }: LoopDeps,
  everyMs = readEveryMs,
): Promise<{ readonly denylist: Denylist; readonly work: Promise<void> }> {
  let parties: ReadonlySet<string> = new Set(await read())
  const task = async () => {
    try {
      parties = new Set(await read())
      return true
    } catch (error) {
      failed('reading the denylist', error)
      return false
    }
  }
  return {
    denylist: { has: (party) => parties.has(party) },
    work: repeat(task, { everyMs, retryMs: everyMs, signal }),
  }
}
