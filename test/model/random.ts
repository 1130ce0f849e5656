/** A deterministic generator of numbers from 0 (inclusive) to 1 (exclusive), mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** An independent stream for this name: taking more numbers from one does not change another. */
export function streamOf(seed: number, name: string): () => number {
  let hash = 0x811c9dc5 ^ seed
  for (const letter of name) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  return seeded(hash)
}
