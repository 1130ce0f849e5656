import { leaseMs } from '../../src/orders/workflow.ts'

/** The lease of a record, and when the record is due; epoch milliseconds. */
export interface Leased {
  /** Undefined if nothing is left to do. */
  dueAt: number | undefined
  lockedUntil: number
  /** Something may have happened while the record was leased. */
  hinted: boolean
}

/** The lease of a caller that has just written the record. */
export function leased(time: number): Leased {
  return { dueAt: time, lockedUntil: time + leaseMs, hinted: false }
}

/** No lease: the record is due after `restMs`, or never again. */
export function resting(time: number, restMs?: number): Leased {
  const dueAt = restMs === undefined ? undefined : time + restMs
  return { dueAt, lockedUntil: time, hinted: false }
}

export function release(row: Leased, time: number, againInMs: number): void {
  if (row.dueAt === undefined) return
  row.lockedUntil = time
  row.dueAt = row.hinted ? time : time + againInMs
  row.hinted = false
}

export function hasten(row: Leased, time: number): void {
  if (row.dueAt === undefined) return
  row.hinted = row.lockedUntil > time
  row.dueAt = time
}

export function claimDue<R extends Leased>(
  rows: readonly R[],
  time: number,
  limit: number,
): readonly R[] {
  const due = rows.filter(
    ({ dueAt, lockedUntil }) => dueAt !== undefined && dueAt <= time && lockedUntil <= time,
  )
  // Records whose worker died come first: their leases ended after they were due.
  const waits = ({ dueAt = 0, lockedUntil }: Leased) => Number(lockedUntil <= dueAt)
  due.sort((one, other) => waits(one) - waits(other) || (one.dueAt ?? 0) - (other.dueAt ?? 0))
  const taken = due.slice(0, limit)
  for (const row of taken) Object.assign(row, { hinted: false, lockedUntil: time + leaseMs })
  return taken
}

/** When the next record can be claimed; Infinity if nothing is left to do. */
export function nextDue(rows: readonly Leased[]): number {
  return Math.min(...rows.map(({ dueAt, lockedUntil }) => Math.max(dueAt ?? Infinity, lockedUntil)))
}
