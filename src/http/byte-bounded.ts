/**
 * A map that holds so many bytes at most. The oldest value makes room; one that was used since it was
 * last looked at stays for another round.
 */
export interface ByteBounded<Value> {
  /** How much it holds now, with what the keys and the places take. */
  readonly bytes: () => number
  get(key: string): Value | undefined
  /** Adds or replaces a value. A value larger than the whole map is not kept. */
  set(key: string, value: Value, bytes: number): void
  clear(): void
}

/** What one place takes besides its key and value, roughly. */
const placeBytes = 200

interface Place<Value> {
  readonly value: Value
  readonly bytes: number
  wasUsed: boolean
}

export function byteBounded<Value>(maxBytes: number): ByteBounded<Value> {
  // A map keeps the order in which keys were added. A use is a mark, not a move: moving a place for
  // every answer has the whole map made anew every few hundred answers.
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
