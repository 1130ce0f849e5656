import { within } from '../lib/scheduling.ts'
import { noteOutcome } from './probes.ts'

const usualCacheMs = 5_000
/** Callers wait no longer than this. Prometheus gives up after ten seconds. */
const maxWaitMs = 2_000

/** A caller gets undefined if the read fails or takes longer than 2 s. */
export function cachedBriefly<T>(
  read: () => Promise<T | undefined>,
  cacheMs = usualCacheMs,
): () => Promise<T | undefined> {
  let cached: { readonly value: T | undefined; readonly until: number } | undefined
  let pending: Promise<T | undefined> | undefined

  async function run(): Promise<T | undefined> {
    const value = await read().catch(() => undefined)
    cached = { value, until: performance.now() + cacheMs }
    pending = undefined
    return value
  }

  return async () => {
    if (cached !== undefined && performance.now() < cached.until) return cached.value
    pending ??= run()
    return within(maxWaitMs, pending, 'It is slow.').catch(() => undefined)
  }
}

const maxAgeMs = 5 * 60_000

/** @param note hears how each read ended */
export function withRecentValue<T>(
  read: () => Promise<T>,
  note: (ok: boolean, detail?: string) => void = () => {},
) {
  let latest: { readonly value: T; readonly atMs: number } | undefined
  const last = (): T | undefined =>
    latest && performance.now() - latest.atMs < maxAgeMs ? latest.value : undefined
  return {
    last,
    async read(): Promise<T | undefined> {
      const atMs = performance.now()
      const value = await noteOutcome(note, read)
      if (value !== undefined) latest = { value, atMs }
      return last()
    },
  }
}
