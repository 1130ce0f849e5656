import type { PaidBack } from '../payments/ports.ts'
import type { PayoutRecord } from './ports.ts'
import type { CheckoutReporter } from './report.ts'

/** By then a payout is sent and confirmed, or somebody has to look why not. */
const sentWithinMs = 3 * 3_600_000

/** Hears how each payout stands, and tells an operator, once, of one that waits too long. */
export type PayoutWatch = (reference: string, paid: PaidBack) => Promise<PaidBack>

/**
 * The processor has many reasons to leave a payout where it is and to say nothing of it: nobody approves
 * it, its wallet is empty, its automatic sender has given up.
 */
export function payoutWatch(
  record: Pick<PayoutRecord, 'waits' | 'rests'>,
  report: CheckoutReporter,
): PayoutWatch {
  return async (reference, paid) => {
    if (paid.outcome !== 'pending') await record.rests(reference)
    else if (await record.waits(reference, sentWithinMs)) {
      report({ name: 'payout_waits', payout: reference, reason: paid.reason })
    }
    return paid
  }
}
