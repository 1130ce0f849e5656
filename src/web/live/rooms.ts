/** A browser that is told when the content of a page changes. */
export interface Listener {
  tell(version: string): void
  /** Keeps proxies from closing an idle connection. */
  pulse(): void
  end(): void
}

/** The page of a listener, and how to read its version. */
export interface Place {
  /** Listeners in one room see the same content and share one look. */
  readonly room: string
  /** The client key under which the listener counts. */
  readonly visitor: string
  /** Reads the current version of the page. */
  readonly look: () => Promise<string>
  /** Called when a look fails. The listeners of the room are then disconnected, and reconnect. */
  readonly failed: (error: unknown) => void
}

interface RoomBounds extends SeatBounds {
  readonly lookMs: number
  readonly pulseMs: number
  /** A listener is disconnected after this time and reconnects, so that none stays for ever. */
  readonly lifeMs: number
}

/** The bounds of one process. A browser has one connection for each tab. */
export const roomBounds: RoomBounds = {
  most: 1_000,
  maxPerVisitor: 12,
  lookMs: 1_000,
  pulseMs: 15_000,
  lifeMs: 300_000,
}

export interface Rooms {
  /**
   * Adds a listener and tells it the version that was just read.
   *
   * @returns a function that removes it, which may be called more than once; undefined if no seat is free
   */
  enter(place: Place, listener: Listener, version: string): (() => void) | undefined
  /** The number of listeners now. */
  size(): number
  /** Disconnects all listeners and accepts no more. */
  close(): void
}

interface Room {
  readonly place: Place
  /** The version that each was told last; they may differ, because each listener brings the version that it read. */
  readonly listeners: Map<Listener, string>
  timer: NodeJS.Timeout
}

/** The listeners of this process, in rooms. A room looks once for all of its listeners. */
export function createRooms(bounds: RoomBounds = roomBounds): Rooms {
  const rooms = new Map<string, Room>()
  const seats = createSeats(bounds)
  let isClosed = false

  function roomAt(place: Place): Room {
    const there = rooms.get(place.room)
    if (there) return there
    const timer = setTimeout(() => lookAgain(room, bounds.lookMs), bounds.lookMs)
    const room: Room = { place, listeners: new Map(), timer }
    rooms.set(place.room, room)
    return room
  }

  function leave(room: Room, listener: Listener): void {
    room.listeners.delete(listener)
    if (room.listeners.size > 0) return
    clearTimeout(room.timer)
    if (rooms.get(room.place.room) === room) rooms.delete(room.place.room)
  }

  return {
    enter(place, listener, version) {
      const free = isClosed ? undefined : seats.take(place.visitor)
      if (free === undefined) return undefined
      const room = roomAt(place)
      room.listeners.set(listener, version)
      listener.tell(version)
      const pulse = setInterval(() => listener.pulse(), bounds.pulseMs)
      const life = setTimeout(() => listener.end(), bounds.lifeMs)
      return () => {
        clearInterval(pulse)
        clearTimeout(life)
        free()
        leave(room, listener)
      }
    },
    size: () => seats.taken(),
    close() {
      isClosed = true
      for (const room of rooms.values())
        for (const listener of room.listeners.keys()) listener.end()
    },
  }
}

/** Reads the version, tells it to every listener that does not have it, and repeats this while anybody listens. */
async function lookAgain(room: Room, everyMs: number): Promise<void> {
  const { place, listeners } = room
  try {
    const version = await place.look()
    for (const [listener, told] of listeners) {
      if (told === version) continue
      listeners.set(listener, version)
      listener.tell(version)
    }
  } catch (error) {
    place.failed(error)
    for (const listener of listeners.keys()) listener.end()
  }
  if (listeners.size > 0) room.timer = setTimeout(() => lookAgain(room, everyMs), everyMs)
}

/** How many may listen at the same time. */
interface SeatBounds {
  readonly most: number
  readonly maxPerVisitor: number
}

/** A limited number of seats, in total and for each visitor. */
interface Seats {
  /** Takes a seat. Returns a function that frees it and may be called more than once; undefined if none is free. */
  take(visitor: string): (() => void) | undefined
  /** The number of seats taken. */
  taken(): number
}

function createSeats({ most, maxPerVisitor }: SeatBounds): Seats {
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
