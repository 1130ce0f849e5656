/**
 * Asks once for everyone who wants to know within a while, and also for those who come while it is
 * being asked. A failure is told to all who wait for it and kept for nobody.
 *
 * @param mostMs how old an answer may be, from the moment it was asked for
 */
export function recent<T>(maxMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly asked: Promise<T>; readonly at: number } | undefined
  return () => {
    const now = performance.now()
    if (last && now - last.at < maxMs) return last.asked
    const asked = ask()
    const own = { asked, at: now }
    last = own
    asked.catch(() => {
      if (last === own) last = undefined
    })
    return asked
  }
}
