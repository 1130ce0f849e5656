import { setTimeout as delay } from 'node:timers/promises'
import type { Wanted } from './arguments.ts'
import { attack } from './attackers.ts'
import { audit } from './audit.ts'
import { shop } from './buyers.ts'
import { collect, countOpen, endLeases } from './collect.ts'
import { runFaultSchedule } from './fault-schedule.ts'
import { gasOf } from './gas.ts'
import { killAgainAndAgain } from './killer.ts'
import { boundsMet, keepFloat } from './means.ts'
import type { Parts } from './parts.ts'
import type { Outcome } from './report.ts'
import { watchSignals } from './watch.ts'

/** Leases of killed nodes (45 s), late refunds and slow polls end well before this, even on a busy machine. */
const maxQuietMs = 600_000

/** A node works for less than this on a call whose buyer has hung up, and may still place an order. */
const stillMs = 10_000

/**
 * Buys, breaks and kills for the wanted time, with attackers after a calm period, then waits until all orders
 * have ended, and audits the run.
 *
 * @throws the error that made the run impossible, or the reason of `cancelled`; all activity then stops
 */
export async function run(parts: Parts, wanted: Wanted, cancelled: AbortSignal): Promise<Outcome> {
  const over = new AbortController()
  const filling = keepFloat(parts, over.signal)
  try {
    return await play(parts, wanted, AbortSignal.any([cancelled, over.signal]))
  } finally {
    over.abort()
    await filling
  }
}

async function play(parts: Parts, wanted: Wanted, over: AbortSignal): Promise<Outcome> {
  const { seed, seconds, killEverySeconds: everySeconds } = wanted
  const startedAt = performance.now()
  const ending = new AbortController()
  const time = new AbortController()
  const closing = AbortSignal.any([over, time.signal, ending.signal])
  const late = new AbortController()
  const closed = AbortSignal.any([over, late.signal])
  const nodes = parts.nodes.map(({ url }) => url)
  const { buyers, orders } = wanted
  const { newAccount } = parts
  const shopping = shop({ seed, buyers, newAccount, nodes, orders, closing, closed })
  // A failure is reported later, where the promise is awaited.
  shopping.catch(() => {})
  const attacking = wanted.attackers ? attack(parts, closing) : Promise.resolve(undefined)
  attacking.catch(() => ending.abort())
  const calm = wanted.attackers ? await watchCalm(parts, wanted, closing) : undisturbed
  const killing = killAgainAndAgain(parts, { seed, everySeconds, seconds, cancelled: closing })
  const [kills] = await together(ending, [
    killing.finally(() => time.abort()),
    runFaultSchedule(parts, { seed, until: closing }),
  ])
  over.throwIfAborted()
  const quietAt = performance.now()
  if (wanted.endLeases) await replaceNodes(parts)
  const timer = setTimeout(() => late.abort(), maxQuietMs)
  const waiting = quiet(parts, [shopping, attacking], closed)
  const [seen, attacked] = await waiting.finally(() => clearTimeout(timer))
  over.throwIfAborted()
  const endedAlone = parts.nodes.flatMap((node) => node.endedAlone)
  const bounded = await boundsMet(parts)
  const facts = { ...(await collect(parts)), seen, endedAlone, bounded, ...calm }
  const took = (from: number, to: number) => Math.round((to - from) / 1_000)
  return {
    facts,
    findings: audit(facts),
    kills,
    attacked,
    gas: await gasOf(parts),
    seconds: { chaos: took(startedAt, quietAt), quiet: took(quietAt, performance.now()) },
  }
}

const undisturbed = { pauses: [], calmUntil: 0, wastedByAttackers: [] }

/** Watches a period without kills and faults, in which no attacker may pause a node, or waste its gas at will. */
async function watchCalm(parts: Parts, { seconds }: Wanted, over: AbortSignal) {
  const calmMs = Math.min(60, seconds / 4) * 1_000
  const until = AbortSignal.any([over, AbortSignal.timeout(calmMs)])
  const pauses = await watchSignals(parts.nodes, until)
  const calmUntil = Date.now()
  const { wastedTransactions } = await gasOf(parts)
  return { pauses, calmUntil, wastedByAttackers: wastedTransactions }
}

/** Waits for all of them. If one fails, tells the others to end, and waits for them too. */
async function together<Results extends readonly unknown[]>(
  ending: AbortController,
  work: { readonly [At in keyof Results]: Promise<Results[At]> },
): Promise<Results> {
  const all = work as readonly Promise<unknown>[]
  for (const one of all) one.catch(() => ending.abort())
  await Promise.allSettled(all)
  return (await Promise.all(all)) as unknown as Results
}

/** Kills all nodes at once and ends their leases, which no living process holds then. */
async function replaceNodes({ nodes, database }: Parts): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill(2_000)))
  await endLeases(database.url)
}

/** Waits until every purchase has ended for its buyer and no order has been open for `stillMs`, or `closed` aborts. */
async function quiet<Results extends readonly unknown[]>(
  { database }: Parts,
  callers: { readonly [At in keyof Results]: Promise<Results[At]> },
  closed: AbortSignal,
): Promise<Results> {
  const results = (await Promise.all(callers)) as unknown as Results
  let stillFrom = performance.now()
  while (!closed.aborted && performance.now() - stillFrom < stillMs) {
    if ((await countOpen(database.url)) > 0) stillFrom = performance.now()
    await delay(500)
  }
  return results
}
