import type { Outcome } from './catalog/test-offers.ts'
import type { TransactionStatus } from './models.ts'

export interface Pace {
  readonly stepMs: number
  readonly lateSeconds: number
  /** When purchases end, if their outcome has an end at all. */
  readonly endsAfterMs?: number | undefined
}

interface Stage {
  readonly status: TransactionStatus
  /** Milliseconds after the purchase was accepted. */
  readonly at: number
}

const order: readonly TransactionStatus[] = ['ACCEPTED', 'PENDING', 'AUTHORIZED', 'IN_PROGRESS']

function ending(outcome: Outcome, pace: Pace): readonly Stage[] {
  return usualEnding(outcome, pace).map(({ status, at }) => ({
    status,
    at: pace.endsAfterMs ?? at,
  }))
}

function usualEnding(outcome: Outcome, pace: Pace): readonly Stage[] {
  switch (outcome) {
    case 'OK':
    case 'LOST':
      return [{ status: 'DONE', at: 4 * pace.stepMs }]
    case 'SLOW':
      return [{ status: 'DONE', at: 100 * pace.stepMs }]
    case 'LATE':
      return [{ status: 'DONE', at: pace.lateSeconds * 1000 }]
    case 'FAIL':
      return [{ status: 'FAILED', at: 4 * pace.stepMs }]
    case 'HANG':
    case 'DECLINED':
      return []
    default:
      return outcome satisfies never
  }
}

/** The stage after `status` in the life of a purchase; undefined if it stays there. */
export function nextStage(
  status: TransactionStatus,
  outcome: Outcome,
  pace: Pace,
): Stage | undefined {
  const reached = order.indexOf(status)
  if (reached < 0) return undefined
  const usual = order.map((name, index) => ({ status: name, at: index * pace.stepMs }))
  return [...usual, ...ending(outcome, pace)][reached + 1]
}
