import type { Checkout, Invoice, InvoicePayment } from './checkout.ts'

/** A payment that is worth less is not kept singly; atomic USDC: 0.05 US dollars. */
const smallBelow = 50_000n
/** At most this many of each status are kept singly, the largest ones. */
const maxSingles = 50

/** The price in USDC and in the coin, from which the worth of a payment follows. */
export type Priced = Pick<Checkout, 'amount'> & Pick<Invoice, 'units'>

/** The payments of an invoice after another look at it. */
export interface MergedPayments {
  readonly payments: readonly InvoicePayment[]
  /** Whether a payment that was settled is so no more; it stays counted as it was. */
  readonly isDenied: boolean
}

/**
 * Merges the payments that were read with those on record. Anybody can send thousands of small payments to an
 * address for a few dollars. All of them count, but only the largest are kept singly; the others are kept as
 * one sum for each status. A payment that was settled once stays, singly or in a sum, because it has been
 * counted and may have been paid back.
 *
 * A payment never leaves a sum: those that were settled stay, so no other one moves up in their place. If the
 * processor denies part of a sum, further small payments count only beyond the denied amount, because it is
 * not known which payments the sum held.
 */
export function mergedPayments(
  known: readonly InvoicePayment[],
  read: readonly InvoicePayment[],
  price: Priced,
): MergedPayments {
  const counted = known.filter(({ status }) => status === 'SETTLED')
  const singles = counted.filter(({ isSum }) => isSum !== true)
  const readById = new Map(read.map((payment) => [payment.id, payment]))
  const denied = singles.filter((payment) => !isSettledAs(payment, readById.get(payment.id)))
  const deniedIds = new Set(denied.map(({ id }) => id))
  const payments = condensed([...denied, ...read.filter(({ id }) => !deniedIds.has(id))], price)

  const shown = new Set(payments.map(({ id }) => id))
  const within = counted.filter(({ id, isSum }) => isSum === true || !shown.has(id))
  const least = unitsOf(within)
  const sum = payments.find(({ isSum, status }) => isSum === true && status === 'SETTLED')
  if ((sum?.units ?? 0n) >= least) return { payments, isDenied: denied.length > 0 }
  const others = payments.filter((payment) => payment !== sum)
  return { payments: [...others, sumOf('SETTLED', [...within], least)], isDenied: true }
}

/**
 * The payments as they are shown, with at least as much settled as was `spent`: what is denied and was spent
 * stays counted, in the sum of small payments.
 */
export function shownPayments(
  known: readonly InvoicePayment[],
  read: readonly InvoicePayment[],
  price: Priced,
  spent: bigint,
): readonly InvoicePayment[] {
  const { payments } = mergedPayments([], read, price)
  const counted = payments.filter(({ status }) => status === 'SETTLED')
  const lacking = spent - unitsOf(counted)
  if (lacking <= 0n) return payments
  const sum = counted.find(({ isSum }) => isSum === true)
  const settled = known.filter(({ status }) => status === 'SETTLED')
  const kept = sumOf('SETTLED', settled, (sum?.units ?? 0n) + lacking)
  return [...payments.filter((payment) => payment !== sum), kept]
}

function isSettledAs({ units }: InvoicePayment, now: InvoicePayment | undefined): boolean {
  return now?.status === 'SETTLED' && now.units === units
}

/** The largest of each status one by one, and all others of it as one. */
function condensed(
  payments: readonly InvoicePayment[],
  { amount, units: price }: Priced,
): readonly InvoicePayment[] {
  const byStatus = Map.groupBy(payments, ({ status }) => status)
  return [...byStatus].flatMap(([status, group]) => {
    const bySize = group.toSorted((one, other) => (isLarger(one, other) ? -1 : 1))
    const end = bySize.findIndex(({ units }) => units * amount < smallBelow * price)
    const kept = Math.min(maxSingles, end < 0 ? bySize.length : end)
    const rest = bySize.slice(kept)
    return [...bySize.slice(0, kept), ...(rest.length > 0 ? [sumOf(status, rest)] : [])]
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
