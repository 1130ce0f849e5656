import { setTimeout as delay } from 'node:timers/promises'
import { type Attacked, attack, watchSignals } from './attackers.ts'
import { audit, type Facts, type Finding, type Seen } from './audit.ts'
import { payInCoin } from './coins.ts'
import { collect, countOpen } from './collect.ts'
import { forceFaults, type Kills, killAgainAndAgain } from './killer.ts'
import type { Parts } from './parts.ts'
import { buy, planOf } from './purchase.ts'

export interface Wanted {
  readonly orders: number
  readonly kills: number
  readonly seed: number
  /** Whether attackers of every sort run beside the buyers, at first without kills and faults. */
  readonly attackers: boolean
}

export interface Outcome {
  readonly facts: Facts
  readonly findings: readonly Finding[]
  readonly kills: Kills
  readonly attacked: Attacked | undefined
}

/** Leases of killed nodes (45 s), late refunds and slow polls end well before this, even on a busy machine. */
const maxQuietMs = 600_000
/** A node works for less than this on a call whose buyer has hung up, and may still place an order. */
const stillMs = 10_000
/** The share of the purchases, and the time at most, without kills and faults while attackers begin. */
const calmShare = 0.2
const calmMs = 60_000

/**
 * Buys, breaks and kills until all purchases have begun, then waits until all orders have ended, and audits
 * the run.
 *
 * @throws the error that made the run impossible, or the reason of `cancelled`; all activity then stops
 */
export async function run(
  parts: Parts,
  { seed, orders, kills, attackers }: Wanted,
  cancelled: AbortSignal,
): Promise<Outcome> {
  const failing = new AbortController()
  const over = AbortSignal.any([cancelled, failing.signal])
  const late = new AbortController()
  const closed = AbortSignal.any([over, late.signal])
  const bought = new AbortController()
  const begun = { count: 0 }
  const progress = () => begun.count / orders
  /** If one activity fails, all others end; the failure is thrown where the promise is awaited. */
  const guarded = <T>(work: Promise<T>): Promise<T> => {
    work.catch((error) => failing.abort(error))
    return work
  }
  const options = { seed, orders, begun, parts, closing: over, closed }
  const shops = Array.from({ length: buyers }, (_, at) => shop(options, at))
  const shopping = guarded(Promise.all(shops))
  const closing = AbortSignal.any([over, bought.signal])
  const attacking = guarded(attackers ? attack(parts, closing) : Promise.resolve(undefined))
  const calm = attackers ? await watchCalm(parts, progress, over) : { pauses: [], calmUntil: 0 }
  const faults = guarded(forceFaults(parts, { seed, until: closing }))
  const killing = guarded(killAgainAndAgain(parts, { seed, kills, progress, cancelled: over }))
  while (progress() < 1 && !over.aborted) await delay(200)
  const killed = await killing
  bought.abort()
  await faults
  const timer = setTimeout(() => late.abort(), maxQuietMs)
  const [seen, attacked] = await Promise.all([shopping, attacking])
  await untilQuiet(parts, closed)
  clearTimeout(timer)
  over.throwIfAborted()
  const endedAlone = parts.nodes.flatMap((node) => node.endedAlone)
  const collected = await collect(parts, seen.flat())
  const facts: Facts = { ...collected, seen: seen.flat(), endedAlone, ...calm }
  return { facts, findings: audit(facts), kills: killed, attacked }
}

/** Watches a period without kills and faults, in which no attacker may pause a node. */
async function watchCalm(parts: Parts, progress: () => number, over: AbortSignal) {
  const until = AbortSignal.any([over, AbortSignal.timeout(calmMs)])
  const pauses = await watchSignals(parts.nodes, () => until.aborted || progress() > calmShare)
  return { pauses, calmUntil: Date.now() }
}

/** Waits until no order has been open for `stillMs`, or `closed` aborts. */
async function untilQuiet({ database }: Parts, closed: AbortSignal): Promise<void> {
  let stillFrom = performance.now()
  while (!closed.aborted && performance.now() - stillFrom < stillMs) {
    if ((await countOpen(database.url)) > 0) stillFrom = performance.now()
    await delay(500)
  }
}

interface Shopping {
  readonly seed: number
  readonly parts: Pick<Parts, 'newAccount' | 'nodes' | 'btcpay' | 'database'>
  /** The most purchases to begin, and how many have begun. */
  readonly orders: number
  readonly begun: { count: number }
  /** Aborted when no new purchase may begin. */
  readonly closing: AbortSignal
  /** Aborted when nobody waits for an order any longer. */
  readonly closed: AbortSignal
}

const buyers = 12
/** The most unfinished purchases of one buyer. */
const maxOpen = 12
/** A buyer changes the wallet after this many purchases, because the store counts failures by wallet. */
const purchasesPerWallet = 2
/** One of this many purchases is paid in a coin, by a person at the website. */
const coinEvery = 20

/** A buyer begins purchases until there are enough, and then waits for the end of all they paid for. */
async function shop(
  { seed, parts, orders, begun, closing, closed }: Shopping,
  at: number,
): Promise<readonly Seen[]> {
  const nodes = parts.nodes.map(({ url }) => url)
  const seen: Seen[] = []
  const open = new Set<Promise<void>>()
  let account = await parts.newAccount()
  for (let count = 0; !closing.aborted && begun.count < orders; count += 1) {
    begun.count += 1
    const isInCoin = begun.count % coinEvery === 0
    if (count > 0 && count % purchasesPerWallet === 0) account = await parts.newAccount()
    const plan = planOf(seed, at, count)
    const name = `b${at}-${count}`
    const bought = isInCoin
      ? payInCoin({ name, plan, parts, closed })
      : await buy({ name, account, plan, nodes, closing: closed })
    seen.push(bought.seen)
    const followed = bought.followed.finally(() => open.delete(followed))
    open.add(followed)
    if (open.size >= maxOpen) await Promise.race(open)
  }
  await Promise.all(open)
  return seen
}
