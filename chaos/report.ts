import type { Attacked } from './attackers.ts'
import { type Finding, factsAbout, wrongs } from './audit.ts'
import type { Facts, Seen } from './facts.ts'
import type { Gas } from './gas.ts'
import type { Kills } from './killer.ts'

export interface Outcome {
  readonly facts: Facts
  readonly findings: readonly Finding[]
  readonly kills: Kills
  readonly attacked: Attacked | undefined
  readonly gas: Gas
  readonly seconds: { readonly chaos: number; readonly quiet: number }
}

/** The figures of a run by name, in the order of the report. */
function figuresOf(outcome: Outcome): ReadonlyMap<string, number> {
  const { facts, findings, kills, seconds } = outcome
  const counted = wrongs.map((wrong) => {
    return [wrong, findings.filter((one) => one.wrong === wrong).length] as const
  })
  return new Map([
    ['seconds of chaos', seconds.chaos],
    ['seconds until quiet', seconds.quiet],
    ['kills', kills.nodes + kills.postgres + kills.supplier + kills.chain],
    ['  of store nodes', kills.nodes],
    ['  of the PostgreSQL postmaster', kills.postgres],
    ['  of the supplier', kills.supplier],
    ['  of the node of the chain', kills.chain],
    ...buyersOf(facts),
    ...ordersOf(facts),
    ...gasFigures(outcome),
    ...counted,
  ])
}

function buyersOf({ seen }: Facts): (readonly [string, number])[] {
  const sum = (of: (one: Seen) => number) => seen.reduce((total, one) => total + of(one), 0)
  return [
    ['purchases begun', seen.length],
    ['  calls that were never answered', sum(({ unanswered }) => unanswered)],
    ['  calls put off with 503 or 408', sum(({ putOff }) => putOff)],
    ['    because the store was paused', sum(({ pausedAt }) => pausedAt.length)],
    ['  signed again under the same key', seen.filter(({ nonces }) => nonces.length > 1).length],
    ['  refused with 402', seen.filter(({ refused }) => refused.length > 0).length],
    ['  buyers who went away', seen.filter(({ ending }) => ending === 'left').length],
    ['  goods shown to their buyer', seen.filter(({ goods }) => goods.length > 0).length],
  ]
}

/** In thousands of gas. The wasted part is what attackers and faults cost. */
function gasFigures({ gas: { moving, wasted, wastedTransactions }, facts }: Outcome) {
  return [
    ['thousands of gas for payments and refunds', Number(moving / 1_000n)],
    ['thousands of gas for what moved nothing', Number(wasted / 1_000n)],
    ['  transactions that moved nothing', wastedTransactions.length],
    ['  of them while only attackers were at work', facts.wastedByAttackers.length],
  ] as const
}

function attackLines({ attacked }: Outcome): string[] {
  return [...(attacked?.answers ?? [])].map(([name, answers]) => {
    const counts = [...answers].map(([answer, count]) => `${count} x ${answer}`)
    return `attack: ${name}: ${counts.join(', ')}`
  })
}

function ordersOf({ orders, supplied, payments, refunds }: Facts): (readonly [string, number])[] {
  const refunded = orders.filter(({ refundState }) => refundState === 'REFUNDED')
  const references = new Set(refunded.map(({ id }) => id.replace('_', '')))
  const late = supplied.filter((one) => one.status === 'DONE' && references.has(one.transactionId))
  const has = (state: string) => orders.filter((order) => order.state === state).length
  return [
    ['orders', orders.length],
    ['  payments on the chain', payments.length],
    ['  delivered', has('FULFILLED')],
    ['  refunded', refunded.length],
    [
      '    after the deadline (EXPIRED)',
      refunded.filter(({ state }) => state === 'EXPIRED').length,
    ],
    ['    refunds on the chain', refunds.length],
    [
      '    USDC in them',
      Math.ceil(refunds.reduce((sum, { value }) => sum + Number(value), 0) / 1e6),
    ],
    ['    goods came after all', late.length],
    ['  never charged (PAYMENT_FAILED)', has('PAYMENT_FAILED')],
  ]
}

/** The text of the report: the figures, the refused payments, and each finding with all facts about its order. */
export function reportOf(outcome: Outcome): string {
  const figures = [...figuresOf(outcome)].map(
    ([name, value]) => `${name.padEnd(46)}${String(value).padStart(8)}`,
  )
  const findings = outcome.findings.flatMap(({ wrong, subject, why }) => [
    '',
    `${wrong.toUpperCase()}: ${subject}: ${why}`,
    ...factsAbout(outcome.facts, subject).map((line) => `  ${line}`),
  ])
  const refusals = outcome.facts.seen.flatMap(({ purchase, refused }) =>
    refused.map(({ answer }) => `refused: ${purchase}: ${answer}`),
  )
  return [...figures, ...attackLines(outcome), ...refusals, ...findings].join('\n')
}
