/**
 * Shares one answer among all who ask within `maxMs`, including those who ask while it is pending. A
 * failure reaches all who wait for it and is not kept.
 *
 * @param maxMs how old an answer may be, counted from when it was asked for
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
