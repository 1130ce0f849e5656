import { type Finding, factsAbout, isSettled, wrongs } from './audit.ts'
import type { Facts } from './facts.ts'
import type { Kills } from './killer.ts'

export interface Outcome {
  readonly facts: Facts
  readonly findings: readonly Finding[]
  readonly kills: Kills
  readonly seconds: { readonly chaos: number; readonly quiet: number }
}

/** The figures of a run by name, as the report prints them. */
export function figuresOf({
  facts,
  findings,
  kills,
  seconds,
}: Outcome): ReadonlyMap<string, number> {
  const { orders, seen, supplied, refunds } = facts
  const has = (state: string) => orders.filter((order) => order.state === state).length
  const refunded = orders.filter(({ refundState }) => refundState === 'REFUNDED')
  const late = new Set(refunded.map(({ id }) => id.replace('_', '')))
  return new Map([
    ['purchases begun', seen.length],
    ['orders', orders.length],
    ['kills', kills.nodes + kills.postgres],
    ['  of store nodes', kills.nodes],
    ['  of the PostgreSQL postmaster', kills.postgres],
    ['delivered', has('FULFILLED')],
    ['refunded', refunded.length],
    ['  after the deadline (EXPIRED)', refunded.filter(({ state }) => state === 'EXPIRED').length],
    ['never charged (PAYMENT_FAILED)', has('PAYMENT_FAILED')],
    ['refund transfers on the chain', refunds.length],
    [
      'goods that came after the refund',
      supplied.filter(({ transactionId, status }) => status === 'DONE' && late.has(transactionId))
        .length,
    ],
    ['buyers who went away', seen.filter(({ ending }) => ending === 'left').length],
    ['orders not settled', orders.filter((order) => !isSettled(order)).length],
    ['seconds of chaos', seconds.chaos],
    ['seconds until quiet', seconds.quiet],
    ...wrongs.map(
      (wrong) => [wrong, findings.filter((one) => one.wrong === wrong).length] as const,
    ),
  ])
}

/** The figures, and every finding with all that is known of its order. */
export function reportOf(outcome: Outcome): string {
  const figures = [...figuresOf(outcome)].map(
    ([name, value]) => `${name.padEnd(36)}${String(value).padStart(8)}`,
  )
  const findings = outcome.findings.flatMap(({ wrong, subject, why }) => [
    '',
    `${wrong.toUpperCase()}: ${subject}: ${why}`,
    ...factsAbout(outcome.facts, subject).map((line) => `  ${line}`),
  ])
  return [...figures, ...findings].join('\n')
}
