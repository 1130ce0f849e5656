/** A map that holds so many bytes at most; what was not used for longest makes room. */
export interface ByteBounded<Value> {
  /** How much it holds now, with what the keys and the places take. */
  readonly bytes: () => number
  get(key: string): Value | undefined
  /** Puts a value in, or counts it anew. What is larger than the whole map is not kept. */
  set(key: string, value: Value, bytes: number): void
  clear(): void
}

/** What one place takes besides its key and value, roughly. */
const placeBytes = 200

export function byteBounded<Value>(maxBytes: number): ByteBounded<Value> {
  // A map keeps the order in which keys were added, so those not used for longest stand in front.
  const places = new Map<string, { readonly value: Value; readonly bytes: number }>()
  let held = 0

  const drop = (key: string) => {
    held -= places.get(key)?.bytes ?? 0
    places.delete(key)
  }

  return {
    bytes: () => held,
    get(key) {
      const place = places.get(key)
      if (place === undefined) return undefined
      places.delete(key)
      places.set(key, place)
      return place.value
    },
    set(key, value, bytes) {
      drop(key)
      const taken = bytes + 2 * key.length + placeBytes
      if (taken > maxBytes) return
      places.set(key, { value, bytes: taken })
      held += taken
      for (const oldest of places.keys()) {
        if (held <= maxBytes) return
        drop(oldest)
      }
    },
    clear() {
      places.clear()
      held = 0
    },
  }
}
