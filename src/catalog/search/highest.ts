/** The indexes of the `most` highest counts above zero, the highest first; of equal ones the lower index first. */
export function highestFirst(counts: ArrayLike<number>, most = counts.length): number[] {
  const size = counts.length
  const least = size > most ? leastOfHighest(counts, most) : 1
  const keys: number[] = []
  for (let place = 0; place < size; place++) {
    const count = counts[place] as number
    // Count and index in one number, so that the native sort of numbers suffices.
    if (count >= least) keys.push(count * size + (size - 1 - place))
  }
  const sorted = Float64Array.from(keys).sort().reverse().subarray(0, most)
  return Array.from(sorted, (key) => size - 1 - (key % size))
}

/** A count of at least 1 that at least `most` entries reach, if there are so many, and few more do. */
function leastOfHighest(counts: ArrayLike<number>, most: number): number {
  const ofRank = new Uint32Array(30 * 8)
  for (let place = 0; place < counts.length; place++) {
    const rank = rankOf(counts[place] as number)
    ofRank[rank] = (ofRank[rank] as number) + 1
  }
  let rank = ofRank.length
  for (let taken = 0; taken < most && rank > 1; ) taken += ofRank[--rank] as number
  const shift = Math.max(0, (rank >>> 3) - 1)
  return shift === 0 ? rank : ((rank & 7) | 8) << shift
}

/** A rank that rises with the count, by its first four binary digits: eight ranks between powers of two. */
function rankOf(count: number): number {
  const shift = Math.max(0, 28 - Math.clz32(count))
  return shift === 0 ? count : ((shift + 1) << 3) | ((count >>> shift) & 7)
}
