import { isDeepStrictEqual } from 'node:util'
import { checkoutSweeper } from '../checkouts/advance.ts'
import type { CheckoutStepDeps, CheckoutStore } from '../checkouts/ports.ts'
import { type LoopDeps, repeat, repeatWork, trying } from '../lib/scheduling.ts'
import { orderSweeper } from '../orders/advance.ts'
import { type GoodwillDeps, goodwillSweeper } from '../orders/goodwill.ts'
import type { LimitStore, OrderStore } from '../orders/ports.ts'
import type { Sweeper } from '../orders/workflow.ts'

/** A node advances at most a hundred orders a second, so that a backlog leaves time for current buyers. */
const sweepLimit = 25
const sweepEveryMs = 250
/** Of each payment method. While the supplier hangs, a stuck order occupies a slot until its call times out. */
const maxConcurrent = 100
/** Of checkouts, each of which reads its invoice in two calls to the payment processor, and of goodwill. */
const rareLimit = 10
const goodwillEveryMs = 5_000
const dayMs = 86_400_000
const hourMs = 3_600_000

/** Orders paid in coins are swept separately, so that a slow payment processor does not delay those paid in USDC. */
export async function runSweeper(
  advance: CheckoutStepDeps & GoodwillDeps,
  loop: LoopDeps,
): Promise<void> {
  await Promise.all([
    repeatSweep('sweep', orderSweeper(advance, maxConcurrent, 'x402'), loop),
    repeatSweep('sweep of coins', orderSweeper(advance, maxConcurrent, 'btcpay'), loop),
    repeatSweep('sweep of checkouts', checkoutSweeper(advance, rareLimit), loop, {
      limit: rareLimit,
    }),
    repeatSweep('sweep of goodwill', goodwillSweeper(advance, rareLimit), loop, {
      limit: rareLimit,
      everyMs: goodwillEveryMs,
    }),
  ])
}

export async function repeatSweep(
  what: string,
  sweeper: Sweeper,
  loop: LoopDeps,
  { limit = sweepLimit, everyMs = sweepEveryMs } = {},
): Promise<void> {
  await repeatWork(what, () => sweeper.look(limit), { ...loop, everyMs })
  await sweeper.settled()
}

interface Forgetful {
  forget(before: Date, signal?: AbortSignal): Promise<unknown>
}

export interface RetentionDeps {
  readonly orders: Pick<OrderStore, 'erasePersonal' | 'forgetKeys' | 'forgetNeverPaid'>
  readonly checkouts: Pick<CheckoutStore, 'erasePersonal' | 'forgetNeverPaid'>
  readonly limits: Pick<LimitStore, 'forgetLifted'>
  readonly reservations: Forgetful
  readonly approvals: Forgetful
  readonly mail: Forgetful
  readonly webhooks: Forgetful
  readonly forgetNonces: () => Promise<unknown>
  readonly addUpEnds: () => Promise<unknown>
  readonly personalDataDays: number
  readonly now: () => Date
}

/** Unpaid orders cost their sender nothing and are useless after this long. */
const neverPaidDays = 1

/** Unpaid checkouts are kept longer, to answer buyers who paid too late. */
const neverPaidCheckoutDays = 90

/** Idempotency keys are kept this long (docs/agents/buying.md). */
const keyDays = 30

/**
 * Erases expired data and sums the order counts every hour (docs/contributors/decisions/005). What fails is tried
 * again after a minute and keeps nothing else from being erased.
 */
export function keepRetention(keeping: RetentionDeps, loop: LoopDeps): Promise<void> {
  const { signal, failed } = loop
  const { orders, checkouts, personalDataDays } = keeping
  const daysAgo = (days: number) => new Date(keeping.now().getTime() - days * dayMs)
  const duties: readonly (() => Promise<unknown>)[] = [
    () => orders.erasePersonal(daysAgo(personalDataDays), signal),
    () => keeping.mail.forget(daysAgo(personalDataDays)),
    () => keeping.webhooks.forget(daysAgo(personalDataDays), signal),
    () => checkouts.erasePersonal(daysAgo(personalDataDays), signal),
    () => orders.forgetKeys(daysAgo(keyDays), signal),
    () => orders.forgetNeverPaid(daysAgo(neverPaidDays), signal),
    () => checkouts.forgetNeverPaid(daysAgo(neverPaidCheckoutDays), signal),
    () => keeping.limits.forgetLifted(keeping.now()),
    () => keeping.reservations.forget(daysAgo(1), signal),
    () => keeping.approvals.forget(daysAgo(1)),
    keeping.forgetNonces,
    keeping.addUpEnds,
  ]
  const task = async () => {
    let isGood = true
    for (const duty of duties) {
      if (signal.aborted) break
      isGood = (await trying('forget', duty, failed)()) && isGood
    }
    return isGood
  }
  return repeat(task, { everyMs: hourMs, retryMs: 60_000, signal })
}

interface Watched<T> {
  readonly read: () => Promise<T>
  /** Hears the first value, and each that differs from the one before. */
  readonly changed: (value: T) => void
  readonly everyMs: number
}

/**
 * Reads once before it returns, and then again and again. While it cannot be read, the last value counts.
 *
 * @throws what the first reading throws
 */
export async function watch<T>(
  what: string,
  { read, changed, everyMs }: Watched<T>,
  loop: LoopDeps,
): Promise<{ readonly stopped: Promise<void> }> {
  let last: T | undefined
  const readAgain = async () => {
    const value = await read()
    if (isDeepStrictEqual(value, last)) return
    changed(value)
    last = value
  }
  await readAgain()
  return { stopped: repeatWork(what, readAgain, { ...loop, everyMs }) }
}
