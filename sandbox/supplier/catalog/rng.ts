/** A 32-bit hash of `text` (FNV-1a, then mixed), the same on every machine and at every start. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39)
  return (hash ^ (hash >>> 15)) >>> 0
}

/**
 * Numbers in [0, 1) from a seed (mulberry32). Every offer uses its id as the seed, so it is the same whatever precedes
 * it and however large the catalog is.
 */
export function random(seed: string): () => number {
  let state = hash32(seed)
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

export function pick<T>(next: () => number, list: readonly [T, ...T[]]): T {
  return list[Math.floor(next() * list.length)] ?? list[0]
}

const [firstDay, lastDay] = [Date.UTC(2023, 0, 1), Date.UTC(2025, 9, 1)]

export function stamps(next: () => number): { createdAt: string; updatedAt: string } {
  const after = (from: number) => Math.floor(from + next() * (lastDay - from))
  const created = after(firstDay)
  const [createdAt, updatedAt] = [created, after(created)].map((at) => new Date(at).toISOString())
  return { createdAt: createdAt as string, updatedAt: updatedAt as string }
}
