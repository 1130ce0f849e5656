import { setTimeout as delay } from 'node:timers/promises'

const keptMs = 5_000
/** Whoever asks waits no longer than this: a scraper gives up after ten seconds. */
const patienceMs = 2_000

/**
 * Looks when asked, at most once at a time, and keeps what it saw for 5 s. Asked while a slow look is
 * under way, it says undefined after 2 s; the look goes on, and the next one who asks may find it done.
 *
 * @param look gives undefined when it failed; it does not throw
 */
export function keptBriefly<T>(
  look: () => Promise<T | undefined>,
  monotonicMs: () => number,
): () => Promise<T | undefined> {
  let kept: { readonly seen: T | undefined; readonly until: number } | undefined
  let underWay: Promise<T | undefined> | undefined

  async function run(): Promise<T | undefined> {
    const seen = await look()
    kept = { seen, until: monotonicMs() + keptMs }
    underWay = undefined
    return seen
  }

  return async () => {
    if (kept !== undefined && monotonicMs() < kept.until) return kept.seen
    underWay ??= run()
    const patience = new AbortController()
    const ranOut = delay(patienceMs, undefined, { signal: patience.signal, ref: false })
    // Ending the wait early is how it is meant to end.
    const waited = ranOut.catch(() => undefined)
    try {
      return await Promise.race([underWay, waited])
    } finally {
      patience.abort()
    }
  }
}

/** The same look, and what it saw last; nothing once it failed. */
export function remembered<T>(look: () => Promise<T>) {
  let last: T | undefined
  return {
    last: (): T | undefined => last,
    async look(): Promise<T> {
      try {
        last = await look()
        return last
      } catch (error) {
        last = undefined
        throw error
      }
    },
  }
}

/** A look or two fail easily; what was seen longer ago proves nothing. */
const lastMs = 5 * 60_000

/** The same look, and what it saw last within 5 minutes, which it also gives where it fails. */
export function lastSeen<T>(look: () => Promise<T>, monotonicMs = () => performance.now()) {
  let seen: { readonly what: T; readonly atMs: number } | undefined
  const last = (): T | undefined =>
    seen && monotonicMs() - seen.atMs < lastMs ? seen.what : undefined
  return {
    last,
    async look(): Promise<T | undefined> {
      const atMs = monotonicMs()
      // The probes of the parts tell what is wrong with them.
      const what = await look().catch(() => undefined)
      if (what !== undefined) seen = { what, atMs }
      return last()
    },
  }
}
