import { consideredMostMs, type ReservationStore } from '../../src/orders/ports.ts'

interface Held {
  request: string
  isSigned: boolean
  reservedAt: number
  seenAt: number
}

/** The reservations of payments in memory, held to the same contract as those on PostgreSQL. */
export function memoryReservations(now: () => Date): ReservationStore {
  const rows = new Map<string, Held>()
  const time = () => now().getTime()
  return {
    async reserve(key, request, isSigned) {
      const held = rows.get(key) ?? { request, isSigned, reservedAt: time(), seenAt: time() }
      if (isSigned && !held.isSigned) Object.assign(held, { request, isSigned })
      held.seenAt = time()
      rows.set(key, held)
      return held.request
    },

    isConsidered: async (key) => (rows.get(key)?.seenAt ?? -Infinity) > time() - consideredMostMs,

    async forget(before) {
      const old = [...rows].filter(([, { reservedAt }]) => reservedAt < before.getTime())
      for (const [key] of old) rows.delete(key)
      return old.length
    },
  }
}
