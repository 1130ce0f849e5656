import { setTimeout as delay } from 'node:timers/promises'
import type { Wanted } from './arguments.ts'
import { audit } from './audit.ts'
import { shop } from './buyers.ts'
import { collect, countOpen, endLeases } from './collect.ts'
import type { Seen } from './facts.ts'
import { killAgainAndAgain } from './killer.ts'
import type { Parts } from './parts.ts'
import type { Outcome } from './report.ts'
import { changeWeather } from './weather.ts'

/** Leases of the killed (45 s), late refunds and slow polls are over well before this. */
const quietMostMs = 240_000

/** Buys, breaks and kills for the wanted time, lets everything come to its end, and audits it. */
export async function run(parts: Parts, wanted: Wanted, cancelled: AbortSignal): Promise<Outcome> {
  const { seed, seconds, killEverySeconds: everySeconds } = wanted
  const accounts = await parts.newAccounts(wanted.buyers)
  const closed = new AbortController()
  const closing = AbortSignal.any([cancelled, AbortSignal.timeout(seconds * 1_000)])
  const startedAt = performance.now()
  const shopping = shop({
    seed,
    accounts,
    nodes: parts.nodes.map(({ url }) => url),
    orders: wanted.orders,
    closing,
    closed: AbortSignal.any([cancelled, closed.signal]),
  })
  const [kills] = await Promise.all([
    killAgainAndAgain(parts, { seed, everySeconds, until: closing }),
    changeWeather(parts, { seed, until: closing }),
  ])
  cancelled.throwIfAborted()
  const quietAt = performance.now()
  if (wanted.endLeases) await replaceNodes(parts)
  const seen = await quiet(parts, shopping, closed)
  const facts = {
    ...(await collect(parts)),
    seen,
    endedAlone: parts.nodes.flatMap(({ endedAlone }) => endedAlone),
  }
  const tookSeconds = (from: number, to: number) => Math.round((to - from) / 1_000)
  return {
    facts,
    findings: audit(facts),
    kills,
    seconds: {
      chaos: tookSeconds(startedAt, quietAt),
      quiet: tookSeconds(quietAt, performance.now()),
    },
  }
}

/** Nobody holds a lease when all nodes are dead, so ending the leases then takes nothing from anyone. */
async function replaceNodes({ nodes, database }: Parts): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill(2_000)))
  await endLeases(database.url)
}

/** Waits until every buyer knows the end of every purchase and no order is open, or too long. */
async function quiet(
  { database }: Parts,
  shopping: Promise<readonly Seen[]>,
  closed: AbortController,
): Promise<readonly Seen[]> {
  const timer = setTimeout(() => closed.abort(), quietMostMs)
  try {
    const seen = await shopping
    while (!closed.signal.aborted && (await countOpen(database.url)) > 0) await delay(500)
    return seen
  } finally {
    clearTimeout(timer)
  }
}
