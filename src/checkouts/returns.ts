import { isOrderId } from '../lib/ids.ts'
import { type Debt, failedPayout, nextForPayout, type Payout } from '../orders/payout.ts'
import { moveTo, wait } from '../orders/workflow.ts'
import {
  type InvoiceMethod,
  type InvoiceRefund,
  type PaidBack,
  partsOf,
  paymentNotShown,
  paymentVanished,
} from '../payments/payment.ts'
import {
  type Checkout,
  type CheckoutIn,
  claimedUnits,
  type Invoice,
  type InvoicedCheckout,
  type InvoicePayment,
  isInvoiced,
  isUnderWay,
  maxKept,
  mayBePaid,
  payableUnits,
  type Return,
  type ReturnUnderWay,
  returnReference,
  settledPayments,
  settledUnits,
  signedReturn,
  withReturn,
  worthOf,
} from './checkout.ts'
import type {
  CheckoutReporter,
  CheckoutStep,
  CheckoutStepDeps,
  CheckoutStore,
  HandPayouts,
  PayoutRecord,
  Processor,
} from './ports.ts'

type Decided = CheckoutIn<'ORDERED' | 'ENDED'>

/** With the price, no more goes out than the processor shows now: what it does not show may never have been ours. */
export async function advanceReturns(
  deps: CheckoutStepDeps,
  checkout: Decided,
  settled: bigint,
): Promise<CheckoutStep | undefined> {
  const current = checkout.returns.find(isUnderWay)
  if (!current) return newReturn(checkout, settled)
  return payableUnits(checkout, current) <= settled
    ? continueReturn(deps, checkout, current)
    : moveTo(withReturn(checkout, current.seq, denied(deps, checkout, current)))
}

/** Nothing is owed unless the return may be paid already; then an operator has to look. */
function denied(deps: CheckoutStepDeps, checkout: Decided, one: ReturnUnderWay): Payout {
  const code = mayBePaid(one) ? paymentNotShown : paymentVanished
  const reason = 'The processor does not show the money any more that would go back.'
  return failedPayout(debtOf(deps, checkout, one), one.payout, { code, reason })
}

/** The next step for a return that an operator has paid by hand, whatever the processor shows now. */
export async function bookNoted(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
): Promise<CheckoutStep | undefined> {
  for (const one of checkout.returns.filter(isUnderWay)) {
    const noted = await deps.hands.find(returnReference(checkout.id, one.seq))
    if (noted !== undefined) return continueReturn(deps, checkout, one)
  }
  return undefined
}

async function continueReturn(
  deps: CheckoutStepDeps,
  checkout: InvoicedCheckout,
  one: ReturnUnderWay,
): Promise<CheckoutStep> {
  const step = await nextForPayout(deps, debtOf(deps, checkout, one), one.payout)
  return step.type === 'move' ? moveTo(withReturn(checkout, one.seq, step.to)) : wait(step.ms)
}

/** One return for all money shown that nothing else has claimed. What is confirmed later gets its own. */
function newReturn(checkout: Decided, settled: bigint): CheckoutStep | undefined {
  const { returns } = checkout
  const units = settled - claimedUnits(checkout)
  if (units <= 0n || worthOf(checkout, units) <= maxKept) return undefined
  const payout: Payout = { state: 'DUE' }
  const one = { seq: returns.length + 1, units, why: whyOf(checkout), payout }
  return moveTo({ ...checkout, returns: [...returns, one] })
}

function whyOf({ state, invoice }: Decided): Return['why'] {
  if (state === 'ORDERED') return 'surplus'
  const isInTime = settledPayments(invoice).some(
    ({ receivedAt }) => receivedAt <= invoice.expiresAt,
  )
  return isInTime ? 'underpaid' : 'late'
}

function debtOf(deps: CheckoutStepDeps, checkout: InvoicedCheckout, one: Return): Debt {
  const { id, changedAt, refundTo } = checkout
  const { seq } = one
  return {
    reference: returnReference(id, seq),
    since: changedAt,
    payee: refundTo,
    sign: async () => signedReturn(checkout, one),
    report: (name, reason) =>
      deps.reportCheckout({ name: `return_${name}`, checkout: id, seq, reason }),
  }
}

/** A payment that is worth less is not kept singly; atomic USDC: 0.05 US dollars. */
const smallBelow = 50_000n
/** At most this many of each status are kept singly, the largest ones. */
const maxSingles = 50

export type Priced = Pick<Checkout, 'amount'> & Pick<Invoice, 'units'>

export interface MergedPayments {
  readonly payments: readonly InvoicePayment[]
  /** Whether a payment that was settled is so no more; it stays counted as it was. */
  readonly isDenied: boolean
}

/**
 * Anybody can send thousands of small payments to an address for a few dollars. All count, but only the largest are
 * kept singly, the others as one sum for each status. A payment that was settled once stays, singly or in a sum,
 * because it has been counted and may have been paid back.
 *
 * A payment never leaves a sum. If the processor denies part of one, further small payments count only beyond the
 * denied amount, because it is not known which payments the sum held.
 */
export function mergedPayments(
  stored: readonly InvoicePayment[],
  latest: readonly InvoicePayment[],
  price: Priced,
): MergedPayments {
  const counted = stored.filter(({ status }) => status === 'SETTLED')
  const singles = counted.filter(({ isSum }) => isSum !== true)
  const readById = new Map(latest.map((payment) => [payment.id, payment]))
  const denied = singles.filter(({ id, units }) => {
    const read = readById.get(id)
    return read?.status !== 'SETTLED' || read.units !== units
  })
  const deniedIds = new Set(denied.map(({ id }) => id))
  const payments = condensed([...denied, ...latest.filter(({ id }) => !deniedIds.has(id))], price)

  const paymentIds = new Set(payments.map(({ id }) => id))
  const within = counted.filter(({ id, isSum }) => isSum === true || !paymentIds.has(id))
  const least = unitsOf(within)
  const sum = payments.find(({ isSum, status }) => isSum === true && status === 'SETTLED')
  if ((sum?.units ?? 0n) >= least) return { payments, isDenied: denied.length > 0 }
  const others = payments.filter((payment) => payment !== sum)
  return { payments: [...others, sumOf('SETTLED', [...within], least)], isDenied: true }
}

/** What is denied and was spent stays counted, in the sum of small payments. */
export function shownPayments(
  stored: readonly InvoicePayment[],
  latest: readonly InvoicePayment[],
  price: Priced,
  spent: bigint,
): readonly InvoicePayment[] {
  const { payments } = mergedPayments([], latest, price)
  const counted = payments.filter(({ status }) => status === 'SETTLED')
  const lacking = spent - unitsOf(counted)
  if (lacking <= 0n) return payments
  const sum = counted.find(({ isSum }) => isSum === true)
  const settled = stored.filter(({ status }) => status === 'SETTLED')
  const newSum = sumOf('SETTLED', settled, (sum?.units ?? 0n) + lacking)
  return [...payments.filter((payment) => payment !== sum), newSum]
}

function condensed(
  payments: readonly InvoicePayment[],
  { amount, units: price }: Priced,
): readonly InvoicePayment[] {
  const byStatus = Map.groupBy(payments, ({ status }) => status)
  return [...byStatus].flatMap(([status, group]) => {
    const bySize = group.toSorted((one, other) => (isLarger(one, other) ? -1 : 1))
    const end = bySize.findIndex(({ units }) => units * amount < smallBelow * price)
    const singleCount = Math.min(maxSingles, end < 0 ? bySize.length : end)
    const rest = bySize.slice(singleCount)
    return [...bySize.slice(0, singleCount), ...(rest.length > 0 ? [sumOf(status, rest)] : [])]
  })
}

/** Of equal ones always the same. */
function isLarger(one: InvoicePayment, other: InvoicePayment): boolean {
  return one.units > other.units || (one.units === other.units && one.id < other.id)
}

/** With the transaction and the time of the first that came, whatever the order they are listed in. */
function sumOf(
  status: InvoicePayment['status'],
  group: readonly InvoicePayment[],
  units = unitsOf(group),
): InvoicePayment {
  const first = group.reduce((one, other) => (comesBefore(one, other) ? one : other))
  return { ...first, id: `sum-${status.toLowerCase()}`, units, isSum: true }
}

function unitsOf(payments: readonly InvoicePayment[]): bigint {
  return payments.reduce((sum, payment) => sum + payment.units, 0n)
}

function comesBefore(one: InvoicePayment, other: InvoicePayment): boolean {
  const ms = one.receivedAt.getTime() - other.receivedAt.getTime()
  return ms < 0 || (ms === 0 && one.id <= other.id)
}

export interface InvoiceMethodDeps {
  readonly processor: Pick<Processor, 'read' | 'payOut'>
  readonly hands: HandPayouts
  readonly checkouts: Pick<CheckoutStore, 'findByOrder'>
  readonly watch: PayoutWatch
}

/** The processor has waited for the confirmations that the operator wants, so what it calls settled is final. */
export function invoiceMethod(deps: InvoiceMethodDeps): InvoiceMethod {
  const { processor, watch } = deps
  return {
    async collect({ invoice, asset, units }) {
      const response = await processor.read(invoice, asset)
      if (response.outcome === 'unknown') return response
      const last = settledPayments(response.invoice).at(-1)
      if (last === undefined || settledUnits(response.invoice) < units) {
        return { outcome: 'unknown', reason: 'The processor does not show the payment any more.' }
      }
      return { outcome: 'settled', receipt: { method: 'btcpay', transaction: last.transaction } }
    },

    confirmationOf: async () => 'final',

    signRefund: async ({ reference, payment: { payer: to, amount, units, invoice, network } }) => {
      return { method: 'btcpay', invoice, network, to, amount, reference, units }
    },

    payBack: async (refund) => watch(refund.reference, await payRefund(deps, refund)),
  }
}

/**
 * What an operator has paid by hand is paid. Otherwise the invoice is read first: money that the processor does not
 * show may never have been ours, and one that does not know the invoice does not know what was sent for it either.
 */
async function payRefund(deps: InvoiceMethodDeps, refund: InvoiceRefund): Promise<PaidBack> {
  const { processor, hands, checkouts } = deps
  const { to, reference, units, network, invoice } = refund
  const transaction = await hands.find(reference)
  if (transaction !== undefined) return { outcome: 'paid', transaction }
  const { coin, address } = partsOf(to)
  const response = await processor.read(invoice, coin)
  if (response.outcome === 'unknown') return { outcome: 'pending', reason: response.reason }
  // Refunds come on top of returns; a return is compared with the rest before it gets here (`advanceReturns`).
  const checkout = isOrderId(reference) ? await checkouts.findByOrder(reference) : undefined
  const needed = checkout && isInvoiced(checkout) ? payableUnits(checkout) : units
  if (settledUnits(response.invoice) < needed) {
    const reason = 'The processor does not show the money any more that would go back.'
    return { outcome: 'blocked', code: paymentNotShown, reason }
  }
  return processor.payOut({ reference, coin, network, to: address, units })
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
