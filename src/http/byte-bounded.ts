/**
 * A map with a maximum size in bytes. It evicts the oldest value first, but moves one that was used since the
 * last pass to the end instead (second chance).
 */
export interface ByteBounded<Value> {
  /** The bytes that it holds now, keys and overhead included. */
  readonly bytes: () => number
  get(key: string): Value | undefined
  /** Adds or replaces a value. A value larger than the whole map is not kept. */
  set(key: string, value: Value, bytes: number): void
  clear(): void
}

/** The approximate overhead of one entry, besides its key and value. */
const placeBytes = 200

interface Place<Value> {
  readonly value: Value
  readonly bytes: number
  wasUsed: boolean
}

export function byteBounded<Value>(maxBytes: number): ByteBounded<Value> {
  // A Map keeps its order of insertion. A use only sets a flag: moving the entry on every use would make the
  // engine rebuild the whole map every few hundred uses.
  const places = new Map<string, Place<Value>>()
  let held = 0

  const drop = (key: string) => {
    held -= places.get(key)?.bytes ?? 0
    places.delete(key)
  }

  const makeRoom = (bytes: number) => {
    for (const [key, place] of places) {
      if (held + bytes <= maxBytes) return
      if (!place.wasUsed) drop(key)
      else {
        place.wasUsed = false
        places.delete(key)
        places.set(key, place)
      }
    }
  }

  return {
    bytes: () => held,
    get(key) {
      const place = places.get(key)
      if (place === undefined) return undefined
      place.wasUsed = true
      return place.value
    },
    set(key, value, bytes) {
      drop(key)
      const taken = bytes + 2 * key.length + placeBytes
      if (taken > maxBytes) return
      makeRoom(taken)
      places.set(key, { value, bytes: taken, wasUsed: false })
      held += taken
    },
    clear() {
      places.clear()
      held = 0
    },
  }
}
