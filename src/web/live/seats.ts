/** How many may be here at once. */
export interface SeatBounds {
  readonly most: number
  readonly maxPerVisitor: number
}

/** A bounded number of places to be, and of places for one visitor. */
export interface Seats {
  /** What gives the seat back, once however often it is called; undefined when there is none left. */
  take(visitor: string): (() => void) | undefined
  /** How many are taken. */
  taken(): number
}

export function createSeats({ most, maxPerVisitor }: SeatBounds): Seats {
  const perVisitor = new Map<string, number>()
  let total = 0

  function count(visitor: string, change: 1 | -1): void {
    total += change
    const left = (perVisitor.get(visitor) ?? 0) + change
    if (left > 0) perVisitor.set(visitor, left)
    else perVisitor.delete(visitor)
  }

  return {
    take(visitor) {
      if (total >= most || (perVisitor.get(visitor) ?? 0) >= maxPerVisitor) return undefined
      count(visitor, 1)
      let isTaken = true
      return () => {
        if (isTaken) count(visitor, -1)
        isTaken = false
      }
    },
    taken: () => total,
  }
}
