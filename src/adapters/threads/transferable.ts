/**
 * The memory in a value that can change hands instead of being copied. What threads share already
 * is left out; the sender must not touch the rest any more.
 */
export function transferable(value: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>()
  const seen = new Set<object>()
  const look = (each: unknown): void => {
    if (typeof each !== 'object' || each === null || seen.has(each)) return
    seen.add(each)
    if (!ArrayBuffer.isView(each)) Object.values(each).forEach(look)
    else if (each.buffer instanceof ArrayBuffer) found.add(each.buffer)
  }
  look(value)
  return [...found]
}
