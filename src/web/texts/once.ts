/** Makes something once for each key and keeps it: most of what is made like this takes longer than a page. */
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
