import type { PartHealth } from './signals.ts'

/** Older outcomes do not count. */
const windowMs = 5 * 60_000
/** The number of outcomes remembered per part. */
const maxOutcomes = 200
/** This many consecutive failures are an outage. */
const outageFailures = 3

interface Outcome {
  readonly at: number
  readonly ok: boolean
  readonly detail: string
}

export interface Tally {
  readonly good: number
  readonly failed: number
}

/** The recent outcomes of a part's calls. */
export interface Outcomes {
  recent(): readonly Outcome[]
  note(ok: boolean, detail?: string): void
  tally(): Tally
}

/** Keeps the recent outcomes of a part's calls, the newest last. */
export function keepOutcomes(now: () => Date): Outcomes {
  let outcomes: readonly Outcome[] = []

  function recent(): readonly Outcome[] {
    const since = now().getTime() - windowMs
    return outcomes.filter(({ at }) => at >= since)
  }

  return {
    recent,
    note(ok: boolean, detail = '') {
      outcomes = [...outcomes.slice(1 - maxOutcomes), { at: now().getTime(), ok, detail }]
    },
    tally(): Tally {
      const all = recent()
      const good = all.filter(({ ok }) => ok).length
      return { good, failed: all.length - good }
    },
  }
}

/** Down while the newest outcomes are all failures; degraded while over a quarter of all are. */
export function healthOf(recent: readonly Outcome[]): PartHealth {
  const failures = recent.filter(({ ok }) => !ok)
  const newest = recent.slice(-outageFailures)
  if (newest.length === outageFailures && newest.every(({ ok }) => !ok)) {
    return { state: 'down', detail: newest.at(-1)?.detail ?? '' }
  }
  if (failures.length * 4 > recent.length) {
    return { state: 'degraded', detail: failures.at(-1)?.detail ?? '' }
  }
  return { state: 'healthy', detail: '' }
}
