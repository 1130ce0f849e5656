const usualCacheMs = 5_000
/** Callers wait no longer than this. Prometheus gives up after ten seconds. */
const maxWaitMs = 2_000

/**
 * Caches the result of `read` for a while and never runs it twice at once. When `read` takes longer than
 * 2 s, the caller gets undefined; the read continues, and a later caller gets its result.
 *
 * @param read returns undefined when it fails; it does not throw
 */
export function cachedBriefly<T>(
  read: () => Promise<T | undefined>,
  monotonicMs: () => number,
  cacheMs = usualCacheMs,
): () => Promise<T | undefined> {
  let cached: { readonly value: T | undefined; readonly until: number } | undefined
  let pending: Promise<T | undefined> | undefined

  async function run(): Promise<T | undefined> {
    const value = await read()
    cached = { value, until: monotonicMs() + cacheMs }
    pending = undefined
    return value
  }

  return async () => {
    if (cached !== undefined && monotonicMs() < cached.until) return cached.value
    pending ??= run()
    const { promise: tooSlow, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(resolve, maxWaitMs, undefined)
    try {
      return await Promise.race([pending, tooSlow])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Some reads fail now and then; a value older than this is no longer trusted. */
const maxAgeMs = 5 * 60_000

/** Wraps `read` and remembers its last result for 5 minutes, which it also returns when a read fails. */
export function withRecentValue<T>(read: () => Promise<T>, monotonicMs = () => performance.now()) {
  let latest: { readonly value: T; readonly atMs: number } | undefined
  const last = (): T | undefined =>
    latest && monotonicMs() - latest.atMs < maxAgeMs ? latest.value : undefined
  return {
    last,
    async read(): Promise<T | undefined> {
      const atMs = monotonicMs()
      // The health checks report why a part fails.
      const value = await read().catch(() => undefined)
      if (value !== undefined) latest = { value, atMs }
      return last()
    },
  }
}
