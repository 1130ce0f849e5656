/**
 * For each of some keys its docs, as runs of neighbours: offers of one brand stand together, so a
 * word of its name has one run of thousands of docs, which takes as long to add as one of them.
 */
export interface Runs {
  /** Where the bounds of each key begin; one more entry than keys says where the last ends. */
  readonly starts: Uint32Array
  /** The first doc of a run and the one behind its last, in turn; ascending for each key. */
  readonly bounds: Uint32Array
}

/**
 * Packs the runs of keys that are visited doc by doc, in ascending order.
 *
 * @param each calls back with every key of every doc, docs ascending; it is run twice, to count and
 *   to fill, so that nothing has to grow
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

/** A doc begins a run unless it follows its neighbour or is named a second time. */
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
