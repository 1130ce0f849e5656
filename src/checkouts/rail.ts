import { paymentNotShown } from '../payments/pay-back-faults.ts'
import { type InvoiceRefund, partsOf } from '../payments/payment.ts'
import type { InvoiceRail, PaidBack } from '../payments/ports.ts'
import { settledPayments, settledUnits } from './checkout.ts'
import type { PayoutRecord, Processor } from './ports.ts'
import type { CheckoutReporter } from './report.ts'

/**
 * The second way of being paid: an invoice of the payment processor, of which a checkout has decided
 * that its price belongs to the order (docs/contributors/decisions/015). The processor is ours and has waited for the
 * confirmations that the operator wants, so what it calls settled is final.
 */
export function invoiceRail(
  processor: Pick<Processor, 'read' | 'payOut'>,
  watch: PayoutWatch,
): InvoiceRail {
  return {
    check: async (tender) => ({ outcome: 'good', tender }),

    async collect({ invoice, asset, units }) {
      const read = await processor.read(invoice, asset)
      if (read.outcome === 'unknown') return read
      const last = settledPayments(read.invoice).at(-1)
      if (last === undefined || settledUnits(read.invoice) < units) {
        return { outcome: 'unknown', reason: 'The processor does not show the payment any more.' }
      }
      return { outcome: 'settled', receipt: { rail: 'btcpay', transaction: last.transaction } }
    },

    confirmationOf: async () => 'final',

    signRefund: async ({ order, tender: { payer: to, amount, units, invoice, network } }) => {
      return { rail: 'btcpay', invoice, network, to, amount, reference: order, units }
    },

    payBack: async (refund) => watch(refund.reference, await paidBack(processor, refund)),
  }
}

/**
 * The invoice is looked at first: what the processor does not show any more may never have been ours. And a
 * processor that does not know the invoice is another one than took the money, which knows nothing of
 * what the first has sent.
 */
async function paidBack(
  processor: Pick<Processor, 'read' | 'payOut'>,
  { to, reference, units, network, invoice }: InvoiceRefund,
): Promise<PaidBack> {
  const { coin, address } = partsOf(to)
  const read = await processor.read(invoice, coin)
  if (read.outcome === 'unknown') return { outcome: 'pending', reason: read.reason }
  if (settledUnits(read.invoice) < units) {
    const reason = 'The processor does not show the money any more that would go back.'
    return { outcome: 'blocked', code: paymentNotShown, reason }
  }
  return processor.payOut({ reference, coin, network, to: address, units })
}

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
