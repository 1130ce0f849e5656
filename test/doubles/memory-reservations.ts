import { maxConsideredMs, type ReservationStore } from '../../src/orders/ports.ts'

interface Held {
  request: string
  isSigned: boolean
  reservedAt: number
  readonly underWay: Map<string, number>
}

/** Reservations of payments in memory. */
export function memoryReservations(now: () => Date): ReservationStore {
  const rows = new Map<string, Held>()
  const time = () => now().getTime()
  let marks = 0
  return {
    async reserve(key, request, isSigned) {
      const held: Held = rows.get(key) ?? {
        request,
        isSigned,
        reservedAt: time(),
        underWay: new Map(),
      }
      if (isSigned && !held.isSigned) Object.assign(held, { request, isSigned })
      rows.set(key, held)
      if (held.request !== request) return { request: held.request, mark: null }
      marks += 1
      const mark = `${marks}`
      held.underWay.set(mark, time())
      return { request, mark }
    },

    async release(key, mark) {
      rows.get(key)?.underWay.delete(mark)
    },

    async isConsidered(key) {
      const times = rows.get(key)?.underWay.values() ?? []
      return [...times].some((at) => at > time() - maxConsideredMs)
    },

    async forget(before) {
      const old = [...rows].filter(([, { reservedAt }]) => reservedAt < before.getTime())
      for (const [key] of old) rows.delete(key)
      return old.length
    },
  }
}
