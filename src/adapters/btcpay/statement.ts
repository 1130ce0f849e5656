import { z } from 'zod'
import { coins } from '../../payments/coins.ts'
import type {
  PaidInvoice,
  PaidInvoices,
  ProcessorPayout,
  ProcessorPayouts,
} from '../../reconcile/ports.ts'
import { ask, describe, type Greenfield, type GreenfieldResponse, segment } from './greenfield.ts'
import { transactionOfProof } from './proofs.ts'
import { type Claimable, claimablesOf, listPullPayments, unitsIn } from './pull-payments.ts'
import { type GreenfieldInvoice, invoiceSchema } from './schemas.ts'

/**
 * Every payout that was claimed from a pull payment with such a name and not cancelled. One call lists the
 * pull payments, and one more for each of them lists its payouts.
 */
export async function readPayouts(
  greenfield: Greenfield,
  isNamed: (reference: string) => boolean,
): Promise<ProcessorPayouts> {
  const pulls = await listPullPayments(greenfield, (name) => isNamed(name ?? ''))
  if (pulls.outcome !== 'ok') return unknown(pulls)
  const claimables = await claimablesOf(greenfield, pulls.value)
  if (claimables.outcome !== 'ok') return unknown(claimables)
  return { outcome: 'found', payouts: claimables.value.flatMap(payoutsIn) }
}

function payoutsIn({ pull, payouts }: Claimable): ProcessorPayout[] {
  const currency = pull.currency.toUpperCase()
  const coin = coins.find((one) => one === currency)
  return payouts
    .filter(({ state }) => state !== 'Cancelled')
    .map(({ destination, originalAmount, state, paymentProof }) => ({
      reference: pull.name ?? '',
      coin: currency,
      to: destination,
      units: coin && unitsIn(originalAmount, coin),
      isSent: state === 'Completed',
      transaction: transactionOfProof(paymentProof),
    }))
}

/** An invoice takes about 1 kB, with all its other fields. */
const pageSize = 500
const maxPageBytes = 8 * 1024 * 1024

/**
 * Every paid invoice that was made for such a checkout. BTCPay lists the newest first, so an invoice that is
 * created meanwhile shifts the others: some are read twice, and none is missed.
 */
export async function readPaidInvoices(
  greenfield: Greenfield,
  isNamed: (checkout: string) => boolean,
): Promise<PaidInvoices> {
  const found = new Map<string, PaidInvoice>()
  for (let skip = 0; ; skip += pageSize) {
    const response = await listInvoices(greenfield, skip)
    if (response.outcome !== 'ok') return unknown(response)
    const paid = response.value.filter(isPaid).map(shownOf)
    for (const one of paid) if (isNamed(one.checkout)) found.set(one.id, one)
    if (response.value.length < pageSize) return { outcome: 'found', invoices: [...found.values()] }
  }
}

function listInvoices(
  greenfield: Greenfield,
  skip: number,
): Promise<GreenfieldResponse<readonly GreenfieldInvoice[]>> {
  const path = `/stores/${segment(greenfield.storeId)}/invoices?includeArchived=true&skip=${skip}&take=${pageSize}`
  return ask(greenfield, z.array(invoiceSchema), { method: 'GET', path, maxBytes: maxPageBytes })
}

function shownOf({ id, createdTime, metadata }: GreenfieldInvoice): PaidInvoice {
  const { orderId, storeOrder } = metadata
  const madeAt = new Date(createdTime * 1_000)
  return { id, checkout: orderId ?? '', order: storeOrder ?? undefined, madeAt }
}

/** An operator's mark is not a payment, and does not hide one. */
function isPaid({ status, additionalStatus, paidAmount }: GreenfieldInvoice): boolean {
  if (additionalStatus.startsWith('Paid') || /[1-9]/.test(paidAmount ?? '')) return true
  return (status === 'Processing' || status === 'Settled') && additionalStatus !== 'Marked'
}

function unknown(response: Exclude<GreenfieldResponse<unknown>, { outcome: 'ok' }>) {
  const reason = response.outcome === 'refused' ? describe(response) : response.reason
  return { outcome: 'unknown', reason } as const
}
