import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { newDataDir } from '../test/child-store.ts'
import { wholeNumber } from '../test/harness/arguments.ts'
import { type Facts, factsAbout, type Seen, wrongs } from './audit.ts'
import { isInCoin } from './collect.ts'
import { startParts } from './parts.ts'
import { type Outcome, run, type Wanted } from './run.ts'

const usage = `Kills the parts of a store under load, and audits what became of the money.

  npm run chaos -- [--orders N] [--kills N] [--seed N] [--attackers]

  --orders N     how many purchases begin (default 1000; at most 12000, whose refunds the caps of a store let through)
  --kills N      how often a part is killed, evenly over the purchases (default 30)
  --seed N       decides the choices of buyers, faults and kills (default 402); since real processes
                 take their own time, two runs of a seed are alike, not equal
  --attackers    attackers beside the buyers; before the first kill they are alone for a while, and no node may stop selling

Exits with 0 when there were orders and each ended as goods or as a refund, once, else with 1.`

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(usage)
    return 0
  }
  const wanted = readArguments(args)
  const cancelling = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => cancelling.abort(new Error(`ended by ${signal}`)))
  // Nothing may end this process before it has stopped what it started.
  for (const failure of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(failure, (error) => cancelling.abort(error))
  const dataDir = await newDataDir()
  const isClean = await runIn(dataDir, wanted, cancelling.signal)
  if (isClean) await rm(dataDir, { recursive: true, force: true })
  else console.error(`Logs and data stay in ${dataDir}`)
  return isClean ? 0 : 1
}

/** Runs, and prints the report or the error. Returns whether the audit found nothing and all parts were stopped. */
async function runIn(dataDir: string, wanted: Wanted, cancelled: AbortSignal): Promise<boolean> {
  const stops: (() => Promise<unknown>)[] = []
  let isClean = false
  try {
    const parts = await startParts(dataDir, stops)
    cancelled.throwIfAborted()
    const outcome = await run(parts, wanted, cancelled)
    console.log(reportOf(outcome))
    isClean = outcome.findings.length === 0
  } catch (error) {
    console.error(error)
  }
  for (const stop of stops) {
    await stop().catch((error) => {
      console.error(error)
      isClean = false
    })
  }
  return isClean
}

/** @throws Error with a message for the user, if an argument is unknown or out of range */
function readArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      orders: { type: 'string', default: '1000' },
      kills: { type: 'string', default: '30' },
      seed: { type: 'string', default: '402' },
      attackers: { type: 'boolean', default: false },
    },
  })
  return {
    orders: wholeNumber('--orders', values.orders, { least: 1, most: 12_000 }),
    kills: wholeNumber('--kills', values.kills, { least: 0, most: 10_000 }),
    seed: wholeNumber('--seed', values.seed, { least: 0, most: 2 ** 31 }),
    attackers: values.attackers,
  }
}

/** The text of the report: the figures, and each finding with all facts about its order. */
export function reportOf({ facts, findings, kills, attacked }: Outcome): string {
  const figures: readonly (readonly [string, number])[] = [
    ['kills of store nodes', kills.nodes],
    ['kills of the PostgreSQL postmaster', kills.postgres],
    ['kills of the supplier', kills.supplier],
    ['kills of BTCPay Server', kills.btcpay],
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
    ['payments on the chains', payments.length],
    ['of these in a coin', payments.filter(isInCoin).length],
    ['delivered', has('FULFILLED')],
    ['refunded', orders.filter(({ refundState }) => refundState === 'REFUNDED').length],
    ['refunds on the chains', refunds.length],
    ['of these in a coin', refunds.filter(isInCoin).length],
    ['never charged (PAYMENT_FAILED)', has('PAYMENT_FAILED')],
  ]
}
