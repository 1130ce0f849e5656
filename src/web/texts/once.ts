/** Caches one value for each key for ever. For values that are expensive to make, such as `Intl` formatters. */
export function once<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new Map<Key, Made>()
  return (key) => {
    const there = known.get(key)
    if (there !== undefined) return there
    const made = make(key)
    known.set(key, made)
    return made
  }
}
