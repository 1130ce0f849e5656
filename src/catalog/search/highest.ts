/** The places of the `most` highest counts above zero, the highest first; of equal ones the lower place first. */
export function highestFirst(counts: ArrayLike<number>, most = counts.length): number[] {
  const size = counts.length
  const least = size > most ? leastOfHighest(counts, most) : 1
  const keys: number[] = []
  for (let place = 0; place < size; place++) {
    const count = counts[place] as number
    // One number for each place, the count before the place: sorted without a comparison of ours.
    if (count >= least) keys.push(count * size + (size - 1 - place))
  }
  const sorted = Float64Array.from(keys).sort().reverse().subarray(0, most)
  return Array.from(sorted, (key) => size - 1 - (key % size))
}

/** A count of at least 1 that `most` places reach or surpass, if so many do, and few more than those. */
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

/** Rises with the count, by its first four binary digits: eight ranks from each power of two to the next. */
function rankOf(count: number): number {
  const shift = Math.max(0, 28 - Math.clz32(count))
  return shift === 0 ? count : ((shift + 1) << 3) | ((count >>> shift) & 7)
}
