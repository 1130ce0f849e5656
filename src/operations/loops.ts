import type { CheckoutStore } from '../checkouts/ports.ts'
import type { CheckoutStepDeps } from '../checkouts/steps.ts'
import { sweepCheckouts } from '../checkouts/sweep.ts'
import { repeat } from '../lib/repeat.ts'
import type { MailBook } from '../orders/mail.ts'
import type { LimitStore, OrderStore, ReservationStore } from '../orders/ports.ts'
import { createSweeper } from '../orders/sweep.ts'
import type { Tender } from '../payments/payment.ts'

/**
 * How many orders one look takes, and how often it looks: a node goes on with a hundred orders a
 * second at most. So a backlog of any size leaves it time for those who buy now.
 */
const sweepLimit = 25
const sweepEveryMs = 250
/**
 * How many orders of one way to pay a node works on at once. Where the supplier hangs, each holds its
 * place for as long as a call may take, and the others go on in the places that are left.
 */
const atOnce = 100
/**
 * How many checkouts one look takes. Each reads its invoice, in two calls, so a node makes some
 * eighty calls a second at most of a processor that answers at once, and fewer of a slower one.
 */
const checkoutLimit = 10
const dayMs = 86_400_000
const hourMs = 3_600_000

export interface LoopDeps {
  readonly signal: AbortSignal
  readonly failed: (what: string, error: unknown) => void
}

/**
 * Goes on with whatever is due, four times a second, until the signal says stop. What waits for the
 * payment processor is swept by itself: a processor that is slow or gone must not take the places of
 * those who paid in USDC.
 */
export async function runSweeper(advance: CheckoutStepDeps, loop: LoopDeps): Promise<void> {
  await Promise.all([
    sweepOrders('sweep', advance, 'x402', loop),
    sweepOrders('sweep of coins', advance, 'btcpay', loop),
    sweepAgain('sweep of checkouts', () => sweepCheckouts(advance, checkoutLimit), loop),
  ])
}

async function sweepOrders(
  what: string,
  advance: CheckoutStepDeps,
  rail: Tender['rail'],
  loop: LoopDeps,
): Promise<void> {
  const sweeper = createSweeper(advance, { atOnce, rail })
  await sweepAgain(what, () => sweeper.look(sweepLimit), loop)
  await sweeper.settled()
}

function sweepAgain(what: string, look: () => Promise<unknown>, { signal, failed }: LoopDeps) {
  const task = async () => {
    try {
      await look()
      return true
    } catch (error) {
      failed(what, error)
      return false
    }
  }
  return repeat(task, { everyMs: sweepEveryMs, retryMs: sweepEveryMs, signal })
}

export interface Keeping {
  readonly orders: Pick<OrderStore, 'erasePersonal' | 'forgetKeys' | 'forgetNeverPaid'>
  readonly checkouts: Pick<CheckoutStore, 'erasePersonal'>
  readonly limits: Pick<LimitStore, 'forgetLifted'>
  readonly reservations: Pick<ReservationStore, 'forget'>
  readonly mail: Pick<MailBook, 'forget'>
  /** Forgets sign-in nonces that have run out anyway. */
  readonly forgetNonces: () => Promise<unknown>
  /** Adds up what was counted of orders. */
  readonly addUpEnds: () => Promise<unknown>
  readonly personalDataDays: number
  readonly now: () => Date
}

/** What was never paid is of use to nobody after this long, and anybody can cause it for free. */
const neverPaidDays = 1

/** Idempotency keys are kept this long, as docs/buying.md tells buyers. */
const keyDays = 30

/**
 * Erases what was kept long enough, and adds up what was counted, every hour (docs/decisions/005). A
 * backlog of any size is left for the next start, soon after the signal says stop.
 */
export function keepRetention(keeping: Keeping, { signal, failed }: LoopDeps): Promise<void> {
  const daysAgo = (days: number) => new Date(keeping.now().getTime() - days * dayMs)
  const task = async () => {
    try {
      await keeping.orders.erasePersonal(daysAgo(keeping.personalDataDays), signal)
      await keeping.mail.forget(daysAgo(keeping.personalDataDays))
      await keeping.checkouts.erasePersonal(daysAgo(keeping.personalDataDays), signal)
      await keeping.orders.forgetKeys(daysAgo(keyDays), signal)
      await keeping.orders.forgetNeverPaid(daysAgo(neverPaidDays), signal)
      await keeping.limits.forgetLifted(keeping.now())
      await keeping.reservations.forget(daysAgo(1), signal)
      await keeping.forgetNonces()
      await keeping.addUpEnds()
      return true
    } catch (error) {
      failed('forget', error)
      return false
    }
  }
  return repeat(task, { everyMs: hourMs, retryMs: 60_000, signal })
}
