/** A set of offers by their positions, one bit each. */
export type Bits = Uint32Array

/** The positions of offers, ascending. */
export type Postings = Uint32Array

export function emptyBits(size: number): Bits {
  return new Uint32Array(Math.ceil(size / 32))
}

export function fullBits(size: number): Bits {
  const bits = emptyBits(size).fill(0xffffffff)
  if (size % 32 > 0) bits[bits.length - 1] = 2 ** (size % 32) - 1
  return bits
}

/** The positions that pass a test. */
export function bitsWhere(size: number, test: (position: number) => boolean): Bits {
  const bits = emptyBits(size)
  for (let position = 0; position < size; position++) if (test(position)) addTo(bits, position)
  return bits
}

export function unionOf(size: number, lists: Iterable<Postings>): Bits {
  const bits = emptyBits(size)
  for (const postings of lists) {
    for (let at = 0; at < postings.length; at++) addTo(bits, postings[at] as number)
  }
  return bits
}

export function addTo(bits: Bits, position: number): void {
  bits[position >>> 5] = (bits[position >>> 5] as number) | (1 << (position & 31))
}

export function has(bits: Bits, position: number): boolean {
  return (((bits[position >>> 5] as number) >>> (position & 31)) & 1) === 1
}

/** Adds to `bits` what the others have. */
export function unite(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) | (others[at] as number)
}

/** Leaves in `bits` what both have. */
export function intersect(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) & (others[at] as number)
}

/** Takes out of `bits` what the others have. */
export function subtract(bits: Bits, others: Bits): void {
  for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) & ~(others[at] as number)
}

export function countOf(bits: Bits): number {
  let count = 0
  for (let at = 0; at < bits.length; at++) {
    // Adds up neighbouring bits, then pairs, then fours, and the four bytes by one multiplication.
    let word = bits[at] as number
    word -= (word >>> 1) & 0x55555555
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** Visits the positions in ascending order. */
export function forEachIn(bits: Bits, visit: (position: number) => void): void {
  for (let at = 0; at < bits.length; at++) {
    for (let word = bits[at] as number; word !== 0; word &= word - 1) {
      visit(at * 32 + 31 - Math.clz32(word & -word))
    }
  }
}
