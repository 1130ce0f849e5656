import { isOrderId } from '../lib/ids.ts'
import { paymentNotShown } from '../payments/pay-back-faults.ts'
import { type InvoiceRefund, partsOf } from '../payments/payment.ts'
import type { InvoiceMethod, PaidBack } from '../payments/ports.ts'
import { isInvoiced, payableUnits, settledPayments, settledUnits } from './checkout.ts'
import type {
  CheckoutReporter,
  CheckoutStore,
  HandPayouts,
  PayoutRecord,
  Processor,
} from './ports.ts'

export interface InvoiceRailDeps {
  readonly processor: Pick<Processor, 'read' | 'payOut'>
  readonly hands: HandPayouts
  readonly checkouts: Pick<CheckoutStore, 'findByOrder'>
  readonly watch: PayoutWatch
}

/**
 * An invoice whose price a checkout has given to the order (docs/contributors/decisions/015). The processor has waited
 * for the confirmations that the operator wants, so what it calls settled is final.
 */
export function invoiceMethod(deps: InvoiceRailDeps): InvoiceMethod {
  const { processor, watch } = deps
  return {
    async collect({ invoice, asset, units }) {
      const read = await processor.read(invoice, asset)
      if (read.outcome === 'unknown') return read
      const last = settledPayments(read.invoice).at(-1)
      if (last === undefined || settledUnits(read.invoice) < units) {
        return { outcome: 'unknown', reason: 'The processor does not show the payment any more.' }
      }
      return { outcome: 'settled', receipt: { method: 'btcpay', transaction: last.transaction } }
    },

    confirmationOf: async () => 'final',

    signRefund: async ({ reference, payment: { payer: to, amount, units, invoice, network } }) => {
      return { method: 'btcpay', invoice, network, to, amount, reference, units }
    },

    payBack: async (refund) => watch(refund.reference, await paidBack(deps, refund)),
  }
}

/**
 * What an operator has paid by hand is paid. Otherwise the invoice is read first: money that the processor does not
 * show may never have been ours, and one that does not know the invoice does not know what was sent for it either.
 */
async function paidBack(deps: InvoiceRailDeps, refund: InvoiceRefund): Promise<PaidBack> {
  const { processor, hands } = deps
  const { to, reference, units, network, invoice } = refund
  const transaction = await hands.find(reference)
  if (transaction !== undefined) return { outcome: 'paid', transaction }
  const { coin, address } = partsOf(to)
  const read = await processor.read(invoice, coin)
  if (read.outcome === 'unknown') return { outcome: 'pending', reason: read.reason }
  if (settledUnits(read.invoice) < (await neededUnits(deps, refund))) {
    const reason = 'The processor does not show the money any more that would go back.'
    return { outcome: 'blocked', code: paymentNotShown, reason }
  }
  return processor.payOut({ reference, coin, network, to: address, units })
}

/** Refunds come on top of returns; a return is compared with the rest before it gets here (`giveBack`). */
async function neededUnits(
  { checkouts }: InvoiceRailDeps,
  { reference, units }: InvoiceRefund,
): Promise<bigint> {
  const checkout = isOrderId(reference) ? await checkouts.findByOrder(reference) : undefined
  return checkout && isInvoiced(checkout) ? payableUnits(checkout) : units
}

/** After this long, the operator must find out why a payout is not sent and confirmed. */
const sentWithinMs = 3 * 3_600_000

export type PayoutWatch = (reference: string, paid: PaidBack) => Promise<PaidBack>

/** A payout may wait for reasons that are not reported: nobody approves it, or the wallet is empty. */
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
