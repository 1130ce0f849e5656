import { factsAbout, wrongs } from './audit.ts'
import type { Facts, Seen } from './facts.ts'
import type { Outcome } from './run.ts'

/** The text of the report: the figures, and each finding with all facts about its order. */
export function reportOf({ facts, findings, kills, attacked }: Outcome): string {
  const figures: readonly (readonly [string, number])[] = [
    ['kills of store nodes', kills.nodes],
    ['kills of the PostgreSQL postmaster', kills.postgres],
    ['kills of the supplier', kills.supplier],
    ['kills of the node of the chain', kills.chain],
    ...buyersOf(facts),
    ...ordersOf(facts),
    ...wrongs.map((wrong) => {
      return [wrong, findings.filter((one) => one.wrong === wrong).length] as const
    }),
  ]
  const lines = figures.map(([name, value]) => `${name.padEnd(46)}${String(value).padStart(8)}`)
  const attacks = [...(attacked?.answers ?? [])].map(([name, answers]) => {
    const counts = [...answers].map(([answer, count]) => `${count} x ${answer}`)
    return `attack: ${name}: ${counts.join(', ')}`
  })
  const details = findings.flatMap(({ wrong, subject, why }) => [
    '',
    `${wrong.toUpperCase()}: ${subject}: ${why}`,
    ...factsAbout(facts, subject).map((line) => `  ${line}`),
  ])
  return [...lines, ...attacks, ...details].join('\n')
}

function buyersOf({ seen }: Facts): (readonly [string, number])[] {
  const sum = (of: (one: Seen) => number) => seen.reduce((total, one) => total + of(one), 0)
  return [
    ['purchases begun', seen.length],
    ['calls that were never answered', sum(({ unanswered }) => unanswered)],
    ['calls put off with 503 or 408', sum(({ putOff }) => putOff)],
    ['buyers who went away', seen.filter(({ ending }) => ending === 'left').length],
    ['goods shown to their buyer', seen.filter(({ goods }) => goods.length > 0).length],
  ]
}

function ordersOf({ orders, payments, refunds }: Facts): (readonly [string, number])[] {
  const has = (state: string) => orders.filter((order) => order.state === state).length
  return [
    ['orders', orders.length],
    ['payments on the chain', payments.length],
    ['delivered', has('FULFILLED')],
    ['refunded', orders.filter(({ refundState }) => refundState === 'REFUNDED').length],
    ['refunds on the chain', refunds.length],
    ['never charged (PAYMENT_FAILED)', has('PAYMENT_FAILED')],
  ]
}
