import type { Checkout, Invoice, InvoicePayment } from './checkout.ts'

/** Below this worth, in atomic USDC, a payment is not kept by itself: 0.05 US dollars. */
const smallBelow = 50_000n

/** What the price is, which says what a payment is worth, and until when it can be paid. */
export type Priced = Pick<Checkout, 'amount'> & Pick<Invoice, 'units' | 'expiresAt'>

/**
 * The payments of an invoice, with all small ones of a status as one. Anybody can send thousands of
 * the smallest amounts to an address for a few dollars; all of it counts, and none of it may fill the
 * record. Late ones stay apart from those in time.
 */
export function withSmallOnesAsOne(
  payments: readonly InvoicePayment[],
  { amount, units: price, expiresAt }: Priced,
): readonly InvoicePayment[] {
  const isSmall = ({ units, isSum }: InvoicePayment) =>
    isSum !== true && units * amount < smallBelow * price
  const groups = Map.groupBy(payments.filter(isSmall), ({ status, receivedAt }) => {
    const when = receivedAt <= expiresAt ? 'in-time' : 'late'
    return `small-${when}-${status.toLowerCase()}`
  })
  const sums = [...groups].map(([id, group]) => sumOf(id, group))
  return [...payments.filter((payment) => !isSmall(payment)), ...sums]
}

/** Named after the first that came, whatever the order they are listed in. */
function sumOf(id: string, group: readonly InvoicePayment[]): InvoicePayment {
  const first = group.reduce((one, other) => (comesBefore(one, other) ? one : other))
  const units = group.reduce((sum, payment) => sum + payment.units, 0n)
  return { ...first, id, units, isSum: true }
}

function comesBefore(one: InvoicePayment, other: InvoicePayment): boolean {
  const ms = one.receivedAt.getTime() - other.receivedAt.getTime()
  return ms < 0 || (ms === 0 && one.id <= other.id)
}
