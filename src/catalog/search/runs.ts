/**
 * The docs of each key, as runs of neighbours. Offers of one brand are neighbours, so a word of its name has one run
 * of thousands of docs, which is added in about the time of a single doc.
 */
export interface Runs {
  /** Where the bounds of each key begin, and one entry more for where the last ones end. */
  readonly starts: Uint32Array
  /** Alternately the first doc of a run and the doc behind its last; ascending for each key. */
  readonly bounds: Uint32Array
}

/**
 * Packs the runs of keys that are visited doc by doc, in ascending order.
 *
 * @param each calls back with every key of every doc, docs ascending. It runs twice, to count and to fill, so that
 *   no array has to grow
 */
export function packRuns(keys: number, each: (add: Add) => void): Runs {
  const starts = startsOf(keys, each)
  const bounds = new Uint32Array(starts[keys] as number)
  const ends = starts.slice(0, keys)
  each((key, doc) => {
    const end = ends[key] as number
    const hasRun = end > (starts[key] as number)
    if (hasRun && doc <= (bounds[end - 1] as number)) {
      bounds[end - 1] = doc + 1
    } else {
      bounds[end] = doc
      bounds[end + 1] = doc + 1
      ends[key] = end + 2
    }
  })
  return { starts, bounds }
}

type Add = (key: number, doc: number) => void

/** Where the bounds of each key begin. A doc begins a run unless it follows its neighbour or is repeated. */
function startsOf(keys: number, each: (add: Add) => void): Uint32Array {
  const starts = new Uint32Array(keys + 1)
  /** The doc behind the last one of each key, so that 0 means none. */
  const behind = new Uint32Array(keys)
  each((key, doc) => {
    const next = behind[key] as number
    if (next === 0 || doc > next) starts[key + 1] = (starts[key + 1] as number) + 2
    behind[key] = doc + 1
  })
  for (let key = 0; key < keys; key++) {
    starts[key + 1] = (starts[key + 1] as number) + (starts[key] as number)
  }
  return starts
}
