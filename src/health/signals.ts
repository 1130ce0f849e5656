/** The published signals (x402-signals 4.3). */
export interface Signals {
  readonly provider_health: 'healthy' | 'degraded' | 'down'
  readonly agent_action: 'pay' | 'retry_later' | 'stop'
  readonly last_updated: string
}

export type Part = 'supplier' | 'chain' | 'database' | 'catalog' | 'refunds' | 'gas'

/** The health of one part, with a detail for the operator. */
export interface PartHealth {
  readonly state: Signals['provider_health']
  readonly detail: string
}

export type Parts = Readonly<Record<Part, PartHealth>>

/**
 * The signals for agents. Purchases stop while the database or the chain is down, because money could
 * then move without a record or proof. They also stop while the supplier is down or the refund wallet does
 * not cover the open orders. A stale catalog only slows agents down.
 */
export function signalsOf(parts: Parts, now: Date): Signals {
  const states = Object.values(parts).map(({ state }) => state)
  const last_updated = now.toISOString()
  if (states.includes('down')) {
    return { provider_health: 'down', agent_action: 'stop', last_updated }
  }
  if (states.includes('degraded')) {
    return { provider_health: 'degraded', agent_action: 'retry_later', last_updated }
  }
  return { provider_health: 'healthy', agent_action: 'pay', last_updated }
}

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

/** Keeps the recent outcomes of a part's calls, the newest last. */
export function keepOutcomes(now: () => Date) {
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
