import { type Goodwill, goodwillReferenceOf } from './goodwill.ts'
import { type Debt, nextForPayout, type PayoutDeps } from './payout.ts'
import type { GoodwillStore } from './ports.ts'
import type { Reporter } from './report.ts'
import {
  carry,
  createSweeper,
  type Flow,
  moveTo,
  rest,
  type Step,
  type Sweeper,
  wait,
} from './workflow.ts'

export interface GoodwillDeps extends PayoutDeps {
  readonly goodwill: GoodwillStore
  readonly report: Reporter
  /** Aborted when this process is about to end. */
  readonly stopping: AbortSignal
}

/** Pays goodwill that is due, by the same rules as refunds. */
export function goodwillSweeper(deps: GoodwillDeps, atOnce: number): Sweeper {
  const { goodwill: store, now, stopping } = deps
  const flow: Flow<Goodwill> = { store, now, stopping, next: (goodwill) => next(deps, goodwill) }
  return createSweeper({
    claimDue: (limit) => store.claimDue(limit),
    work: (goodwill) => carry(flow, goodwill),
    failed: ({ id }, error) => deps.report({ name: 'step_failed', order: id, error }),
    atOnce,
  })
}

async function next(deps: GoodwillDeps, goodwill: Goodwill): Promise<Step<Goodwill>> {
  const { payout } = goodwill
  if (payout.state === 'CONFIRMED' || payout.state === 'FAILED') return rest
  const step = await nextForPayout(deps, debtOf(deps, goodwill), payout)
  if (step.type !== 'move') return wait(step.ms)
  return moveTo({ ...goodwill, changedAt: deps.now(), payout: step.to })
}

function debtOf(deps: GoodwillDeps, goodwill: Goodwill): Debt {
  const { id, amount, tender, receipt, changedAt } = goodwill
  const reference = goodwillReferenceOf(id)
  return {
    reference,
    since: changedAt,
    payee: tender.payer,
    sign: () =>
      deps.rails.x402.signRefund({ reference, tender: { ...tender, amount }, since: receipt }),
    report: (event) =>
      deps.report(
        event.name === 'failed'
          ? { name: 'goodwill_failed', order: id, reason: event.reason }
          : { name: 'goodwill_held', order: id, reason: event.reason },
      ),
  }
}
